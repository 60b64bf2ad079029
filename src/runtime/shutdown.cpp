#include "runtime/shutdown.hpp"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <system_error>
#include <utility>

#include "base/assert.hpp"
#include "runtime/log.hpp"
#include "runtime/report.hpp"
#include "runtime/wait.hpp"

namespace tenon::runtime {

namespace asio = boost::asio;

namespace {

sigset_t stop_signals() {
    sigset_t set;
    ::sigemptyset(&set);
    ::sigaddset(&set, SIGINT);
    ::sigaddset(&set, SIGTERM);
    return set;
}

int expect_descriptor(int descriptor, const char* what) {
    if (descriptor < 0) throw std::system_error(errno, std::generic_category(), what);
    return descriptor;
}

[[noreturn]] void end_at_once() {
    constexpr std::string_view sentence = "A second signal came: ending at once.\n";
    std::ignore = ::write(STDERR_FILENO, sentence.data(), sentence.size());
    ::_exit(130);
}

}  // namespace

void prepare_signals() {
    const sigset_t set = stop_signals();
    TENON_ASSERT(::pthread_sigmask(SIG_BLOCK, &set, nullptr) == 0);
    // A peer that hangs up is an error of that write, not of the process.
    TENON_ASSERT(::signal(SIGPIPE, SIG_IGN) != SIG_ERR);
}

StopSignals::StopSignals(Asked asked) : asked_(std::move(asked)) {
    const sigset_t set = stop_signals();
    signals_ = expect_descriptor(::signalfd(-1, &set, SFD_CLOEXEC), "signalfd");
    stop_ = ::eventfd(0, EFD_CLOEXEC);
    if (stop_ < 0) ::close(signals_);
    expect_descriptor(stop_, "eventfd");
    thread_ = std::thread([this] { watch(); });
}

StopSignals::~StopSignals() {
    const std::uint64_t one = 1;
    TENON_ASSERT(::write(stop_, &one, sizeof one) == sizeof one);
    thread_.join();
    ::close(stop_);
    ::close(signals_);
}

void StopSignals::watch() {
    ::pthread_setname_np(::pthread_self(), "signals");
    std::array<pollfd, 2> sources{pollfd{.fd = signals_, .events = POLLIN, .revents = 0},
                                  pollfd{.fd = stop_, .events = POLLIN, .revents = 0}};
    for (bool told = false;;) {
        if (::poll(sources.data(), sources.size(), -1) < 0) {
            TENON_ASSERT(errno == EINTR);
            continue;
        }
        if (sources[1].revents != 0) return;
        signalfd_siginfo taken{};
        if (::read(signals_, &taken, sizeof taken) != sizeof taken) continue;
        if (std::exchange(told, true)) end_at_once();
        asked_(static_cast<int>(taken.ssi_signo));
    }
}

/// One step under way; shared with its coroutine, which may be left behind.
struct Shutdown::Running {
    Running(Core& core, Deadline deadline)
        : call(core.make_call(std::chrono::nanoseconds(0))), ended(core.io()), task(core.io()) {
        call.deadline = deadline;
    }
    Call call;
    Event ended;
    bool failed = false;
    TaskGroup task;

    asio::awaitable<void> run(StopStep& step) {
        try {
            co_await step.stop(call);
        } catch (...) {
            failed = true;
            report_failure(step.name, std::current_exception());
        }
        ended.set();
    }
};

Shutdown::Shutdown(Core& core, std::chrono::milliseconds bound) : core_(core), bound_(bound) {}

void Shutdown::add(StopStep step) {
    TENON_ASSERT(step.weight > 0);
    steps_.push_back(std::move(step));
}

asio::awaitable<std::vector<std::string>> Shutdown::run() {
    unsigned total = 0;
    for (const StopStep& step : steps_) total += step.weight;
    const Deadline began = std::chrono::steady_clock::now();
    std::vector<std::string> unfinished;
    unsigned passed = 0;
    for (StopStep& step : steps_) {
        passed += step.weight;
        if (!co_await stop_within(step, began + bound_ * passed / total)) {
            unfinished.push_back(step.name);
        }
    }
    co_return unfinished;
}

asio::awaitable<bool> Shutdown::stop_within(StopStep& step, Deadline deadline) {
    const auto running = std::make_shared<Running>(core_, deadline);
    running->task.spawn(step.name, running->run(step));
    try {
        co_await running->ended.wait(deadline);
    } catch (const DeadlineExceeded&) {
        log(Level::warning, "A part did not stop in its time and is left behind.",
            {{"part", step.name}});
        running->task.cancel();
        left_behind_.push_back(running);
        co_return false;
    }
    co_await running->task.join();
    co_return !running->failed;
}

}  // namespace tenon::runtime
