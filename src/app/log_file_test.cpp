#include "app/log_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string>
#include <thread>

#include "app/data_folder.hpp"
#include "app/test_folder.hpp"

namespace tenon::app {
namespace {

class LogFiles : public testing::Test {
public:
    ~LogFiles() override { ::close(descriptor_); }

protected:
    void write(const std::string& text) const {
        ASSERT_EQ(::write(descriptor_, text.data(), text.size()), std::ssize(text));
    }
    void turn() { log_.turn(std::array{descriptor_}); }
    std::string read(const std::string& name) const {
        return read_file(folder_.path / name).value_or("none");
    }

    TestFolder folder_;
    LogFile log_{folder_.path / "a.log", {.bytes_max = 10, .kept = 2}};
    int descriptor_ = log_.open();
};

TEST_F(LogFiles, AFullOneIsFollowedByANewOneAndTheOldestGoes) {
    write("first");
    turn();
    EXPECT_EQ(read("a.log"), "first");
    write(" line.");
    turn();
    EXPECT_EQ(read("a.log"), "");
    EXPECT_EQ(read("a.log.1"), "first line.");
    EXPECT_EQ(read("a.log.2"), "none");
    for (const char* text : {"second line", "third line"}) {
        write(text);
        turn();
    }
    write("now");
    EXPECT_EQ(read("a.log"), "now");
    EXPECT_EQ(read("a.log.1"), "third line");
    EXPECT_EQ(read("a.log.2"), "second line");
    EXPECT_EQ(read("a.log.3"), "none");
}

TEST_F(LogFiles, OpeningBeginsANewOneWhenTheLastIsFull) {
    write("as long as");
    const int next = LogFile(log_.path(), {.bytes_max = 10, .kept = 1}).open();
    ASSERT_EQ(::write(next, "new", 3), 3);
    ::close(next);
    EXPECT_EQ(read("a.log"), "new");
    EXPECT_EQ(read("a.log.1"), "as long as");
}

TEST_F(LogFiles, OneThatCouldNotBeFollowedIsFollowedAtTheNextLook) {
    write("as long as the bound");
    // What a look leaves behind when no descriptor is free for the new file.
    std::filesystem::rename(log_.path(), folder_.path / "a.log.1");
    turn();
    write("now");
    EXPECT_EQ(read("a.log"), "now");
    EXPECT_EQ(read("a.log.1"), "as long as the bound");
    EXPECT_EQ(read("a.log.2"), "none");
}

TEST_F(LogFiles, NothingThatIsWrittenMeanwhileIsLost) {
    constexpr int lines = 2'000;
    LogFile log(log_.path(), {.bytes_max = 4'000, .kept = 100});
    std::thread writer([this] {
        for (int i = 0; i < lines; ++i) write("a line of twenty..\n");
    });
    for (int i = 0; i < 1'000; ++i) log.turn(std::array{descriptor_});
    writer.join();
    std::string all = read("a.log");
    for (int i = 1; read("a.log." + std::to_string(i)) != "none"; ++i) {
        all += read("a.log." + std::to_string(i));
    }
    EXPECT_EQ(std::ranges::count(all, '\n'), lines);
}

TEST(LogFile, SaysWhyItCannotBeWritten) {
    EXPECT_THROW(static_cast<void>(LogFile("/nowhere/a.log").open()), CommandError);
}

}  // namespace
}  // namespace tenon::app
