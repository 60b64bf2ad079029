#include "app/data_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <future>
#include <string>

#include "app/test_folder.hpp"

namespace tenon::app {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
namespace fs = std::filesystem;

/// What opening a folder is refused with; empty when it is not.
std::string refusal_of(const fs::path& path) {
    try {
        DataFolder::open(path);
        return "";
    } catch (const CommandError& error) {
        return error.what();
    }
}

mode_t mode_of(const fs::path& path) {
    struct stat facts{};
    return stat(path.c_str(), &facts) == 0 ? facts.st_mode & 07777 : 0;
}

class Data : public testing::Test {
protected:
    ~Data() override {
        std::error_code ignored;
        for (const auto& path : elsewhere_) fs::remove_all(path, ignored);
    }
    DataFolder open(const fs::path& path) {
        auto folder = DataFolder::open(path);
        // What lies outside of the test's folder is removed with it.
        for (const auto& part : {folder.engines(), folder.sockets()}) {
            const bool inside = part.string().starts_with(test_.path.string());
            if (!inside) elsewhere_.push_back(part);
        }
        return folder;
    }
    fs::path path() const { return test_.path / "data"; }

    TestFolder test_;
    std::vector<fs::path> elsewhere_;
};

TEST_F(Data, IsMadeWithItsParts) {
    const auto folder = open(test_.path / "a" / "b");
    EXPECT_EQ(folder.path(), fs::canonical(test_.path) / "a" / "b");
    EXPECT_EQ(folder.engines(), folder.path());
    EXPECT_EQ(folder.sockets(), folder.path() / "run");
    EXPECT_EQ(mode_of(folder.sockets()), 0700U);
    EXPECT_EQ(read_file(folder.path() / "where"), folder.path().string() + "\n");
    std::ofstream(folder.log("postgres")) << "x";
    EXPECT_TRUE(fs::exists(folder.path() / "log" / "postgres.log"));
}

TEST_F(Data, IsOneProcesssAndSaysWhose) {
    auto first = open(path());
    const auto refusal = refusal_of(path());
    EXPECT_THAT(refusal, HasSubstr("in use by process " + std::to_string(getpid()) + ";"));
    EXPECT_THAT(refusal, HasSubstr("--data"));
    const auto moved = std::move(first);
    EXPECT_NE(refusal_of(path()), "");
}

TEST_F(Data, IsFreeAgainWhenItsOwnerHasGone) {
    open(path());
    EXPECT_EQ(refusal_of(path()), "");
}

TEST_F(Data, IsFreeAgainWhenItsOwnerWasKilled) {
    int told[2];
    ASSERT_EQ(pipe(told), 0);
    const pid_t owner = fork();
    if (owner == 0) {
        const auto folder = DataFolder::open(path());
        const auto written = write(told[1], "x", 1);
        pause();
        _exit(static_cast<int>(written));
    }
    ASSERT_GT(owner, 0);
    close(told[1]);
    char word = 0;
    ASSERT_EQ(read(told[0], &word, 1), 1);
    close(told[0]);
    EXPECT_THAT(refusal_of(path()), HasSubstr("process " + std::to_string(owner) + ";"));
    ASSERT_EQ(kill(owner, SIGKILL), 0);
    ASSERT_EQ(waitpid(owner, nullptr, 0), owner);
    EXPECT_EQ(refusal_of(path()), "");
}

TEST_F(Data, IsNotHeldByWhatItsOwnerStarted) {
    std::optional<Program> engine;
    {
        const auto folder = open(path());
        engine = Program::start({.arguments = {"/bin/sh", "-c", "exec sleep 1000"},
                                 .folder = test_.path,
                                 .log = folder.log("engine"),
                                 .account = std::nullopt});
    }
    EXPECT_EQ(refusal_of(path()), "");
}

TEST_F(Data, SaysWhyItCannotBeMade) {
    write_file(test_.path / "file", "");
    EXPECT_THAT(refusal_of(test_.path / "file" / "data"), HasSubstr("Not a directory"));
    EXPECT_THAT(refusal_of(test_.path / "file"), HasSubstr("--data"));
}

TEST_F(Data, SocketsOfALongPathLieInAShortPrivateFolder) {
    const auto folder = open(test_.path / std::string(60, 'a') / std::string(60, 'b'));
    EXPECT_EQ(folder.engines(), folder.path());
    EXPECT_EQ(folder.sockets().parent_path(), "/tmp");
    EXPECT_LT((folder.sockets() / ".s.PGSQL.5432").string().size(), 108U);
    EXPECT_EQ(mode_of(folder.sockets()), 0700U);
    struct stat facts{};
    ASSERT_EQ(stat(folder.sockets().c_str(), &facts), 0);
    EXPECT_EQ(facts.st_uid, folder.account() ? folder.account()->user : geteuid());
}

TEST_F(Data, ALongPathKeepsItsSocketsFolderOverRuns) {
    const auto path = test_.path / std::string(120, 'a');
    const auto first = open(path).sockets();
    EXPECT_EQ(open(path).sockets(), first);
    EXPECT_NE(open(test_.path / std::string(120, 'b')).sockets(), first);
}

TEST_F(Data, AForeignSocketsFolderIsRefusedAndLeftAsItIs) {
    const auto path = test_.path / std::string(120, 'a');
    const auto sockets = open(path).sockets();
    fs::remove_all(sockets);
    // Somebody else was first: with a link to a folder of ours.
    const auto valuable = test_.path / "valuable";
    fs::create_directory(valuable);
    fs::permissions(valuable, fs::perms::owner_all);
    struct stat before{};
    ASSERT_EQ(stat(valuable.c_str(), &before), 0);
    fs::create_directory_symlink(valuable, sockets);
    EXPECT_THAT(refusal_of(path), HasSubstr("not a private folder"));
    struct stat after{};
    ASSERT_EQ(stat(valuable.c_str(), &after), 0);
    EXPECT_EQ(after.st_uid, before.st_uid);
    // Or with a folder that others may write to.
    fs::remove(sockets);
    fs::create_directory(sockets);
    fs::permissions(sockets, fs::perms::all);
    EXPECT_THAT(refusal_of(path), HasSubstr("not a private folder"));
}

TEST_F(Data, EnginesLieWhereTheirAccountReachesThem) {
    fs::permissions(test_.path, fs::perms::owner_all);
    const auto folder = open(path());
    if (folder.account()) {
        EXPECT_EQ(folder.engines().parent_path(), "/var/lib/tenon");
        EXPECT_EQ(mode_of(folder.engines()), 0700U);
    } else {
        EXPECT_EQ(folder.engines(), folder.path());
    }
    EXPECT_EQ(read_file(folder.path() / "where"), folder.engines().string() + "\n");
}

TEST_F(Data, AFileIsReplacedWhole) {
    const auto file = test_.path / "file";
    write_file(file, "old");
    EXPECT_EQ(mode_of(file), 0600U);
    std::ifstream reader(file);
    write_file(file.string() + ".new", "left by a crash, and longer than what follows");
    write_file(file, "new");
    EXPECT_EQ(read_file(file), "new");
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(reader), {}), "old");
    EXPECT_FALSE(fs::exists(file.string() + ".new"));
}

TEST_F(Data, AReaderSeesOneContentOrTheOther) {
    const auto file = test_.path / "file";
    const std::string one(100'000, '1');
    const std::string two(150'000, '2');
    write_file(file, one);
    std::atomic<bool> done{false};
    auto reading = std::async(std::launch::async, [&] {
        std::size_t torn = 0;
        while (!done) {
            const auto content = read_file(file);
            if (content != one && content != two) ++torn;
        }
        return torn;
    });
    for (int i = 0; i < 50; ++i) write_file(file, i % 2 == 0 ? two : one);
    done = true;
    EXPECT_EQ(reading.get(), 0U);
}

TEST_F(Data, WhatCannotBeWrittenIsSaid) {
    EXPECT_THROW(write_file(test_.path / "missing" / "file", "x"), CommandError);
    const auto file = test_.path / "file";
    write_file(file, "old");
    fs::create_directory(file.string() + ".new");
    EXPECT_THROW(write_file(file, "new"), CommandError);
    EXPECT_EQ(read_file(file), "old");
    try {
        fs::create_directory(test_.path / "folder");
        write_file(test_.path / "folder", "x");
        FAIL() << "a folder was replaced";
    } catch (const CommandError& error) {
        EXPECT_THAT(error.what(), HasSubstr("Is a directory"));
    }
    EXPECT_EQ(read_file(test_.path / "missing"), std::nullopt);
}

}  // namespace
}  // namespace tenon::app
