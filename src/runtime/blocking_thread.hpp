// A thread for calls that block, such as getaddrinfo or PQcancel.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/post.hpp>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "runtime/call.hpp"
#include "runtime/core.hpp"
#include "runtime/failure.hpp"
#include "runtime/wait.hpp"

namespace tenon::runtime {

/// Runs blocking calls one after another, off the cores.
///
/// Shape:   at most `queue_max` jobs wait; one more is refused.
/// Owns:    its thread. Jobs that have not begun when it stops are refused.
/// Expects: destroyed before the cores that wait for its answers.
/// Threads: all.
class BlockingThread {
public:
    struct Options {
        std::string name = "blocking";  ///< of the thread, at most 15 bytes
        std::size_t queue_max = 256;    ///< jobs that may wait, > 0
    };

    explicit BlockingThread(Options options);
    BlockingThread() : BlockingThread(Options{}) {}
    ~BlockingThread();
    BlockingThread(const BlockingThread&) = delete;
    BlockingThread& operator=(const BlockingThread&) = delete;

    /// The result of `work`, here on the caller's core.
    ///
    /// Expects: `work` owns what it touches: the caller may leave by its deadline while it runs.
    ///          From the core of `call`.
    /// Errors:  what `work` throws; DeadlineExceeded, and then a job that has not begun never
    ///          does; Unavailable when full or stopped.
    template <class T>
    boost::asio::awaitable<T> run(Call& call, std::function<T()> work) {
        auto answer = std::make_shared<Answer<T>>(call.core->io());
        auto job = std::make_unique<Asked<T>>(call.core->io(), call.deadline, answer);
        job->work = std::move(work);
        if (!push(std::move(job))) throw refusal();
        co_await answer->ended.wait(call);
        if (answer->failure) std::rethrow_exception(std::move(answer->failure));
        if constexpr (!std::is_void_v<T>) co_return std::move(*answer->value);
    }

    /// Hands over work whose end nobody waits for; what it throws is logged. False when full or
    /// stopped.
    [[nodiscard]] bool try_post(std::string name, std::function<void()> work);
    /// Refuses new jobs and those that wait, and returns when the running one has ended.
    void stop();
    [[nodiscard]] std::size_t waiting() const;

private:
    struct Job {
        explicit Job(Deadline until) : deadline(until) {}
        virtual ~Job() = default;
        virtual void act() = 0;
        virtual void refuse(std::exception_ptr failure) = 0;
        Deadline deadline;
    };
    struct Posted;

    template <class T>
    struct Answer {
        explicit Answer(boost::asio::io_context& io) : ended(io) {}
        Event ended;
        std::exception_ptr failure;
        std::optional<Kept<T>> value;
    };

    template <class T>
    struct Asked final : Job {
        Asked(boost::asio::io_context& loop, Deadline until, std::shared_ptr<Answer<T>> to)
            : Job(until), io(loop), answer(std::move(to)) {}
        void act() override {
            try {
                if constexpr (std::is_void_v<T>) {
                    work();
                } else {
                    answer->value.emplace(work());
                }
            } catch (...) {
                answer->failure = std::current_exception();
            }
            tell();
        }
        void refuse(std::exception_ptr failure) override {
            answer->failure = std::move(failure);
            tell();
        }
        /// The answer's last owner must be on its core, so this thread lets go of it here.
        void tell() {
            boost::asio::post(io, [told = std::move(answer)] { told->ended.set(); });
        }
        boost::asio::io_context& io;
        std::shared_ptr<Answer<T>> answer;
        std::function<T()> work;
    };

    [[nodiscard]] bool push(std::unique_ptr<Job> job);
    [[nodiscard]] static Unavailable refusal();
    std::unique_ptr<Job> next();
    void loop();

    const Options options_;
    mutable std::mutex guard_;
    std::condition_variable changed_;
    std::deque<std::unique_ptr<Job>> jobs_;
    bool stopped_ = false;
    std::thread thread_;
};

}  // namespace tenon::runtime
