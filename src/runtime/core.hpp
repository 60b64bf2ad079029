// One thread, one io_context: a request stays on its core from accept to answer.
#pragma once

#include <boost/asio/io_context.hpp>
#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "base/clock.hpp"
#include "base/random.hpp"
#include "base/uuid.hpp"
#include "runtime/call.hpp"

namespace tenon::runtime {

class SpanQueue;
struct SpanRules;

/// What a core owns: its loop, its randomness and its id generator.
///
/// Threads: everything but io() and index() is for the core's own thread.
class Core {
public:
    Core(std::size_t index, const base::Clock& clock);
    ~Core();
    Core(const Core&) = delete;
    Core& operator=(const Core&) = delete;

    [[nodiscard]] std::size_t index() const { return index_; }
    [[nodiscard]] boost::asio::io_context& io() { return io_; }
    [[nodiscard]] const base::Clock& clock() const { return clock_; }
    [[nodiscard]] base::Random& random() { return random_; }
    [[nodiscard]] base::UuidV7Generator& ids() { return ids_; }

    /// A call for background work on this core, with a fresh trace.
    [[nodiscard]] Call make_call(std::chrono::nanoseconds time_limit);

    /// A fresh trace, not sampled.
    [[nodiscard]] Trace make_trace();

    /// Begins to keep the spans of sampled calls. Expects: once, before the core runs.
    void keep_spans(const SpanRules& rules);
    /// Where they lie; nullptr where nobody asked for them.
    [[nodiscard]] SpanQueue* spans() { return spans_.get(); }

private:
    friend class Cores;
    /// Lets Cores drop what the loops still hold before any of them is gone.
    struct Loop final : boost::asio::io_context {
        using io_context::io_context;
        void abandon() { shutdown(); }
    };

    std::size_t index_;
    const base::Clock& clock_;
    base::SecureRandom random_;
    base::UuidV7Generator ids_;
    std::unique_ptr<SpanQueue> spans_;
    Loop io_;  ///< last, so that what it destroys still finds the rest
};

/// All cores of the process.
///
/// Owns: the threads. The thread that calls run() waits; stop() may be called from anywhere.
class Cores {
public:
    /// `count` 0 means one per processor that the process may use.
    Cores(std::size_t count, const base::Clock& clock);
    ~Cores();

    [[nodiscard]] std::size_t size() const { return cores_.size(); }
    [[nodiscard]] Core& operator[](std::size_t index) { return *cores_[index]; }

    /// Starts the threads; each loops until stop().
    void start();
    /// Ends all loops and joins the threads. Expects: work was cancelled before.
    void stop();
    /// Runs `work` on every core and returns when all have run it. Not from a core's own thread.
    void on_each(const std::function<void(Core&)>& work);

private:
    struct Thread;
    std::vector<std::unique_ptr<Core>> cores_;
    std::vector<std::unique_ptr<Thread>> threads_;
};

}  // namespace tenon::runtime
