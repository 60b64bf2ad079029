#include "app/run_state.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include "app/data_folder.hpp"
#include "app/live_process.hpp"
#include "app/process.hpp"
#include "app/test_folder.hpp"
#include "runtime/json.hpp"

namespace tenon::app {
namespace {

using namespace std::chrono_literals;

TEST(FindOwner, IsWhoHoldsTheLock) {
    const TestFolder folder;
    EXPECT_FALSE(is_owned(folder.path));
    EXPECT_EQ(find_owner(folder.path), 0);
    {
        const auto data = DataFolder::open(folder.path);
        EXPECT_TRUE(is_owned(folder.path));
        EXPECT_EQ(find_owner(folder.path), getpid());
    }
    EXPECT_FALSE(is_owned(folder.path));
    EXPECT_EQ(find_owner(folder.path), 0);
}

TEST(FindOwner, IsNotWhoeverTheFileNames) {
    const TestFolder folder;
    const auto data = DataFolder::open(folder.path);
    // Process 1 is alive, and has nothing to do with this folder.
    const int lock = ::open((folder.path / "lock").c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC);
    ASSERT_EQ(::write(lock, "1", 1), 1);
    ::close(lock);
    EXPECT_TRUE(is_owned(folder.path));
    EXPECT_EQ(find_owner(folder.path), 0);
}

TEST(FindRunning, NeedsALivingOwner) {
    const TestFolder folder;
    RunState state;
    state.url = "http://127.0.0.1:1";
    write_file(folder.path / "run.json", runtime::to_json(state));
    EXPECT_FALSE(find_running(folder.path));
    const auto data = DataFolder::open(folder.path);
    const auto found = find_running(folder.path);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->url, state.url);
}

TEST(LiveProcess, IsSignalledAndWaitedFor) {
    const TestFolder folder;
    auto child = Program::start({.arguments = {"/bin/sleep", "60"},
                                 .folder = folder.path,
                                 .log = folder.path / "log",
                                 .account = std::nullopt});
    const auto process = LiveProcess::find(child.pid());
    ASSERT_TRUE(process);
    EXPECT_EQ(process->pid(), child.pid());
    EXPECT_FALSE(process->wait(0ms));
    EXPECT_TRUE(process->send(SIGTERM));
    EXPECT_TRUE(process->wait(20s));
    EXPECT_TRUE(child.wait(20s));
    EXPECT_FALSE(process->send(SIGTERM));
    EXPECT_FALSE(LiveProcess::find(child.pid()));
}

}  // namespace
}  // namespace tenon::app
