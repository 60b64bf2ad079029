#include "runtime/core.hpp"

#include <pthread.h>

#include <algorithm>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <exception>
#include <latch>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "base/assert.hpp"
#include "runtime/processors.hpp"
#include "runtime/span_queue.hpp"

namespace tenon::runtime {

Core::Core(std::size_t index, const base::Clock& clock)
    : index_(index), clock_(clock), ids_(clock, random_), io_(1) {}

Core::~Core() = default;

void Core::keep_spans(const SpanRules& rules) {
    TENON_ASSERT(!spans_);
    spans_ = std::make_unique<SpanQueue>(rules);
}

Call Core::make_call(std::chrono::nanoseconds time_limit) {
    Call call;
    call.core = this;
    call.deadline = std::chrono::steady_clock::now() + time_limit;
    call.now = clock_.now();
    call.trace = make_trace();
    return call;
}

Trace Core::make_trace() {
    Trace trace;
    random_.fill(trace.trace_id);
    random_.fill(trace.span_id);
    // All zero is what W3C trace context calls invalid.
    trace.trace_id.back() |= 1;
    trace.span_id.back() |= 1;
    return trace;
}

struct Cores::Thread {
    explicit Thread(Core& core)
        : work(core.io().get_executor()), thread([this, &core] { loop(core); }) {}

    void loop(Core& core) {
        const std::string name = "core-" + std::to_string(core.index());
        ::pthread_setname_np(::pthread_self(), name.substr(0, 15).c_str());
        core.io().run();
    }

    boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work;
    std::thread thread;
};

Cores::Cores(std::size_t count, const base::Clock& clock) {
    if (count == 0) count = processors();
    cores_.reserve(count);
    for (std::size_t index = 0; index < count; ++index) {
        cores_.push_back(std::make_unique<Core>(index, clock));
    }
}

Cores::~Cores() {
    stop();
    // What one core still holds may belong to a coroutine of another core, so every loop gives up
    // what it holds while all of them are still there. Giving up may hand on more, hence rounds.
    for (int round = 0; round < 3; ++round) {
        for (const auto& core : cores_) core->io_.abandon();
    }
}

void Cores::start() {
    TENON_ASSERT(threads_.empty());
    threads_.reserve(cores_.size());
    for (const auto& core : cores_) threads_.push_back(std::make_unique<Thread>(*core));
}

void Cores::stop() {
    for (const auto& core : cores_) core->io().stop();
    for (const auto& thread : threads_) thread->thread.join();
    threads_.clear();
}

void Cores::on_each(const std::function<void(Core&)>& work) {
    TENON_ASSERT(!threads_.empty());
    std::latch left(static_cast<std::ptrdiff_t>(cores_.size()));
    std::mutex guard;
    std::exception_ptr failure;
    for (const auto& core : cores_) {
        boost::asio::post(core->io(), [&, each = core.get()] {
            try {
                work(*each);
            } catch (...) {
                const std::lock_guard lock(guard);
                failure = std::current_exception();
            }
            left.count_down();
        });
    }
    left.wait();
    if (failure) std::rethrow_exception(failure);
}

}  // namespace tenon::runtime
