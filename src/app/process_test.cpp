#include "app/process.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "app/data_folder.hpp"
#include "app/test_folder.hpp"

namespace tenon::app {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

class Process : public testing::Test {
protected:
    ~Process() override {
        if (told_ >= 0) close(told_);
    }

    /// A shell that runs `script` in a folder of its own.
    ProgramSpec shell(const std::string& script) {
        return {.arguments = {"/bin/sh", "-c", script},
                .folder = place(),
                .log = log(),
                .account = std::nullopt};
    }
    fs::path place() const {
        const auto made = folder_.path / "place";
        fs::create_directory(made);
        return made;
    }
    fs::path log() const { return folder_.path / "log"; }
    std::string logged() const { return read_file(log()).value_or(""); }

    /// A pipe with a name, by which a script tells that it has come so far: `echo x > ../told`.
    void make_pipe() {
        const auto name = folder_.path / "told";
        ASSERT_EQ(mkfifo(name.c_str(), 0600), 0);
        told_ = open(name.c_str(), O_RDWR | O_CLOEXEC);  // a writer of it never waits
        ASSERT_GE(told_, 0);
    }
    /// Waits for a line of a script; empty when none came within ten seconds.
    std::string wait_for_word() {
        std::string word;
        for (char c = 0;; word += c) {
            pollfd watched{.fd = told_, .events = POLLIN, .revents = 0};
            if (poll(&watched, 1, 10'000) != 1 || read(told_, &c, 1) != 1) return "";
            if (c == '\n') return word;
        }
    }

    TestFolder folder_;
    int told_ = -1;
};

TEST_F(Process, TellsHowItEnded) {
    auto program = Program::start(shell("echo said; echo blamed >&2; exit 3"));
    EXPECT_EQ(program.how_it_ended(), "running");
    ASSERT_TRUE(program.wait(10s));
    EXPECT_EQ(program.how_it_ended(), "exit status 3");
    EXPECT_TRUE(program.wait(0ms));
    EXPECT_EQ(logged(), "said\nblamed\n");
}

TEST_F(Process, IsWaitedForNoLongerThanAsked) {
    auto program = Program::start(shell("exec sleep 1000"));
    EXPECT_FALSE(program.wait(0ms));
    program.send(SIGTERM);
    ASSERT_TRUE(program.wait(10s));
    EXPECT_EQ(program.how_it_ended(), "signal SIGTERM");
}

TEST_F(Process, SaysWhyItCannotBeStarted) {
    auto missing = shell("");
    missing.arguments = {"/nonexistent/postgres"};
    try {
        Program::start(missing);
        FAIL() << "it started";
    } catch (const std::system_error& failure) {
        EXPECT_EQ(failure.code(), std::errc::no_such_file_or_directory);
        EXPECT_NE(std::string(failure.what()).find("/nonexistent/postgres"), std::string::npos);
    }
    auto no_program = shell("");
    write_file(folder_.path / "text", "not a program");
    no_program.arguments = {folder_.path / "text"};
    try {
        Program::start(no_program);
        FAIL() << "it started";
    } catch (const std::system_error& failure) {
        EXPECT_EQ(failure.code(), std::errc::permission_denied);
    }
    auto nowhere = shell("exit 0");
    nowhere.folder = folder_.path / "missing";
    EXPECT_THROW(Program::start(nowhere), std::system_error);
    auto mute = shell("exit 0");
    mute.log = folder_.path / "missing" / "log";
    EXPECT_THROW(Program::start(mute), std::system_error);
}

TEST_F(Process, StandsApartFromTheTerminalAndTheParentsSignals) {
    sigset_t blocked;
    sigset_t before;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGTERM);
    sigprocmask(SIG_BLOCK, &blocked, &before);
    auto program = Program::start(shell("exec sleep 1000"));
    sigprocmask(SIG_SETMASK, &before, nullptr);
    EXPECT_EQ(getpgid(program.pid()), program.pid());
    program.send(SIGTERM);
    EXPECT_TRUE(program.wait(10s));

    EXPECT_EQ(run_program(shell("read line"), 10s), 1);  // standard input is empty
}

TEST_F(Process, RunsAsTheAccountItIsGiven) {
    const auto account = engine_account();
    EXPECT_EQ(account.has_value(), geteuid() == 0);
    auto spec = shell("id -u; id -g; id -G");
    spec.account = account;
    ASSERT_EQ(run_program(spec, 10s), 0);
    if (account) {
        EXPECT_EQ(logged(), std::to_string(account->user) + "\n" + std::to_string(account->group) +
                                "\n" + std::to_string(account->group) + "\n");
    } else {
        EXPECT_TRUE(logged().starts_with(std::to_string(geteuid()) + "\n"));
    }
}

TEST_F(Process, EndsWithItsProgram) {
    pid_t pid = 0;
    {
        auto program = Program::start(shell("trap '' TERM; exec sleep 1000"));
        auto moved = std::move(program);
        pid = moved.pid();
        EXPECT_EQ(kill(pid, 0), 0);
    }
    EXPECT_EQ(kill(pid, 0), -1);
    EXPECT_EQ(errno, ESRCH);
}

TEST_F(Process, RunGivesTheExitStatus) {
    EXPECT_EQ(run_program(shell("exit 0"), 10s), 0);
    EXPECT_EQ(run_program(shell("exit 42"), 10s), 42);
    EXPECT_EQ(run_program(shell("kill -KILL $$"), 10s), -1);
    EXPECT_EQ(run_program(shell("exec sleep 1000"), 1ms), -1);
}

TEST_F(Process, IsFoundByItsFolderWithItsOrphans) {
    make_pipe();
    auto program = Program::start(shell("sleep 1000 & echo $! > ../told; wait"));
    const pid_t child = std::stoi(wait_for_word());
    EXPECT_EQ(processes_in(place()).size(), 2U);
    program.send(SIGKILL);
    ASSERT_TRUE(program.wait(10s));
    EXPECT_EQ(processes_in(place()), std::vector{child});
    EXPECT_TRUE(processes_in(folder_.path).empty());
    EXPECT_EQ(end_processes_in(place(), SIGTERM, 10s), 1U);
    EXPECT_TRUE(processes_in(place()).empty());
    EXPECT_EQ(end_processes_in(place(), SIGTERM, 10s), 0U);
}

TEST_F(Process, IsEndedEvenWhenItHearsNothing) {
    make_pipe();
    auto program = Program::start(shell("trap '' TERM; echo ready > ../told; exec sleep 1000"));
    EXPECT_EQ(wait_for_word(), "ready");
    EXPECT_EQ(end_processes_in(place(), SIGTERM, 20ms), 1U);
    ASSERT_TRUE(program.wait(10s));
    EXPECT_EQ(program.how_it_ended(), "signal SIGKILL");
}

TEST_F(Process, GetsTheDeathSignalWhenItsParentIsKilled) {
    make_pipe();
    auto spec = shell(
        "trap 'echo stopped > ../told; exit 0' INT; echo $$ > ../told; "
        "while :; do read line < ../forever; done");
    ASSERT_EQ(mkfifo((folder_.path / "forever").c_str(), 0600), 0);
    spec.death_signal = SIGINT;
    const pid_t parent = fork();
    if (parent == 0) {
        const auto program = Program::start(spec);
        pause();
        _exit(1);
    }
    ASSERT_GT(parent, 0);
    const pid_t pid = std::stoi(wait_for_word());
    EXPECT_EQ(kill(pid, 0), 0);
    ASSERT_EQ(kill(parent, SIGKILL), 0);
    ASSERT_EQ(waitpid(parent, nullptr, 0), parent);
    EXPECT_EQ(wait_for_word(), "stopped");
}

TEST_F(Process, IsKilledWithItsParentUnlessAskedOtherwise) {
    make_pipe();
    const auto spec = shell("trap '' TERM INT; echo $$ > ../told; exec sleep 1000");
    const pid_t parent = fork();
    if (parent == 0) {
        const auto program = Program::start(spec);
        pause();
        _exit(1);
    }
    ASSERT_GT(parent, 0);
    const pid_t pid = std::stoi(wait_for_word());
    const int descriptor = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
    ASSERT_GE(descriptor, 0);
    ASSERT_EQ(kill(parent, SIGKILL), 0);
    ASSERT_EQ(waitpid(parent, nullptr, 0), parent);
    pollfd watched{.fd = descriptor, .events = POLLIN, .revents = 0};
    EXPECT_EQ(poll(&watched, 1, 10'000), 1);
    close(descriptor);
}

TEST_F(Process, ProgramsAreFoundInTheGivenFoldersFirst) {
    const auto tool = folder_.path / "sh";
    write_file(tool, "#!/bin/sh\n");
    EXPECT_NE(find_program("sh", {folder_.path}), tool);  // nobody may execute it
    fs::permissions(tool, fs::perms::owner_all);
    EXPECT_EQ(find_program("sh", {"/nonexistent", folder_.path}), tool);
    EXPECT_TRUE(find_program("sh", {}).is_absolute());
    EXPECT_TRUE(find_program("no-such-program-of-anybody", {folder_.path}).empty());
}

TEST_F(Process, TheLastLinesOfALogAreShown) {
    write_file(log(), "one\ntwo\nthree\nfour");
    EXPECT_EQ(last_lines(log(), 2), "three\nfour");
    EXPECT_EQ(last_lines(log(), 9), "one\ntwo\nthree\nfour");
    EXPECT_EQ(last_lines(folder_.path / "missing", 2), "");
}

}  // namespace
}  // namespace tenon::app
