// The part of the Batcher that does not depend on what is batched.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/intrusive/list.hpp>
#include <chrono>
#include <cstddef>
#include <exception>
#include <memory>

#include "runtime/call.hpp"
#include "runtime/core.hpp"
#include "runtime/task_group.hpp"
#include "runtime/wait_list.hpp"

namespace tenon::runtime {

/// Bounds of a Batcher.
struct BatchOptions {
    std::size_t batch_max = 512;     ///< items of one batch, > 0; more cost fewer, longer rounds
    std::size_t in_flight_max = 1;   ///< batches that run at once, > 0
    std::size_t queue_max = 65'536;  ///< items that may wait; one more is refused
    /// How long a batch may run, halves and repeats included: its own deadline, not the first
    /// caller's.
    std::chrono::milliseconds run_limit{5'000};
    const char* name = "batch";  ///< of its spans; static
};

using PlaceHook =
    boost::intrusive::list_base_hook<boost::intrusive::tag<struct PlaceTag>,
                                     boost::intrusive::link_mode<boost::intrusive::auto_unlink>>;

/// An item's place in the line and then in its batch; lies in the frame of the caller who waits.
struct Place : Waiter, PlaceHook {
    explicit Place(const Call& call)
        : Waiter(call.deadline),
          priority(call.priority),
          trace(call.trace.sampled ? &call.trace : nullptr) {}
    ~Place();
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

    Priority priority;
    const Trace* trace;                  ///< of a sampled call, which outlives the place
    std::size_t index = 0;               ///< within its batch
    std::exception_ptr failure;          ///< set when its part of the batch failed
    std::size_t* line_length = nullptr;  ///< of the line that it waits in
};

/// The items of one batch and their results, whatever their type.
class BatchRun {
public:
    virtual ~BatchRun() = default;
    /// Takes the item of `place` as the batch's next.
    virtual void take(Place& place) = 0;
    /// Runs the items [first, first + count) and keeps the results.
    virtual boost::asio::awaitable<void> run(Call& call, std::size_t first, std::size_t count) = 0;
    /// Hands out the result of the item at `offset` within the part that ran last.
    virtual void give(Place& place, std::size_t offset) = 0;
    /// Forgets all items and results.
    virtual void clear() = 0;
};

/// Gathers places and runs them in batches by the rules of Batcher.
///
/// Threads: its core only.
class BatchLine {
public:
    BatchLine(Core& core, const BatchOptions& options);
    virtual ~BatchLine();
    BatchLine(const BatchLine&) = delete;
    BatchLine& operator=(const BatchLine&) = delete;

    /// Throws what refuses a new item: a passed deadline, a full or closed line.
    void admit(const Call& call) const;
    /// To be awaited right after admit: suspends until the place has its result, its failure, or
    /// another Wake than ready.
    [[nodiscard]] auto enter(Place& place) {
        append(place);
        return waits_.suspend(place);
    }
    boost::asio::awaitable<void> close();
    [[nodiscard]] std::size_t waiting() const { return waiting_; }

protected:
    [[nodiscard]] virtual std::unique_ptr<BatchRun> make_run() = 0;

private:
    using Places = boost::intrusive::list<Place, boost::intrusive::base_hook<PlaceHook>,
                                          boost::intrusive::constant_time_size<false>>;
    struct Part;
    struct Batch;

    void append(Place& place);
    Place& pop();
    void start_lane();
    boost::asio::awaitable<void> serve();
    boost::asio::awaitable<void> run_batches();
    void fill(Batch& batch);
    boost::asio::awaitable<void> run_batch(Batch& batch);
    boost::asio::awaitable<void> run_part(Batch& batch, Part part);
    boost::asio::awaitable<std::exception_ptr> try_part(Batch& batch, Part part);
    boost::asio::awaitable<std::exception_ptr> run_once(Batch& batch, Part part);
    void settle(Batch& batch, Part part, const std::exception_ptr& failure);

    Core& core_;
    const BatchOptions options_;
    WaitList waits_;
    Places line_;
    std::size_t waiting_ = 0;
    std::size_t lanes_ = 0;
    bool closed_ = false;
    TaskGroup tasks_;
};

}  // namespace tenon::runtime
