// Natural batching: while one batch is in flight, new requests gather for the next.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/assert.hpp"
#include "runtime/batch_line.hpp"
#include "runtime/call.hpp"
#include "runtime/core.hpp"

namespace tenon::runtime {

/// Gathers items while a batch runs and hands them over together.
///
/// Shape:   at most `in_flight_max` batches of at most `batch_max` items run at once; at most
///          `queue_max` items wait, one more throws Unavailable at once. No timer: an idle batcher
///          adds no delay.
/// Errors:  what `run` throws reaches every item of that batch, except by Advice:
///          split  the batch is sent again in halves until the bad item stands alone (it alone
///                 gets the exception); repeat: the same batch again, three times, with backoff.
///          A caller whose deadline passes leaves with DeadlineExceeded; its item stays in its
///          batch and the result is dropped. An item whose deadline passed while it waited is not
///          sent.
/// Order:   items of one batch keep their order of arrival; sorting by key is the runner's.
/// Threads: its core only. Its owner calls close() before destruction.
/// Cancel:  a cancelled caller leaves as one whose deadline passed.
/// Cost:    the frame of add(); the item and its result lie in it and in the batch's vectors.
template <class In, class Out>
class Batcher {
public:
    using Options = BatchOptions;
    /// Returns one Out per item, in order. The span lives until it returns; the Call is the
    /// batch's own, with the highest priority among its items.
    using Run = std::function<boost::asio::awaitable<std::vector<Out>>(Call&, std::span<const In>)>;

    Batcher(Core& core, Options options, Run run) : line_(core, options, std::move(run)) {}

    /// The item's own result.
    ///
    /// Expects: `call` outlives the coroutine.
    /// Errors:  DeadlineExceeded; Unavailable when full or closed; what `run` threw.
    boost::asio::awaitable<Out> add(Call& call, In item) {
        line_.admit(call);
        Seat seat(call, std::move(item));
        const Wake wake = co_await line_.enter(seat);
        if (wake != Wake::ready) expect_ready(wake, "a batch");
        if (seat.failure) std::rethrow_exception(seat.failure);
        co_return std::move(*seat.result);
    }

    /// Refuses new items and returns when the running batches have ended; those that wait fail
    /// with Unavailable.
    boost::asio::awaitable<void> close() { return line_.close(); }
    [[nodiscard]] std::size_t waiting() const { return line_.waiting(); }

private:
    struct Seat : Place {
        Seat(const Call& call, In&& given) : Place(call), item(std::move(given)) {}
        In item;
        std::optional<Out> result;
    };

    class Items final : public BatchRun {
    public:
        explicit Items(const Run& run) : run_(run) {}
        void take(Place& place) override {
            items_.push_back(std::move(static_cast<Seat&>(place).item));
        }
        boost::asio::awaitable<void> run(Call& call, std::size_t first,
                                         std::size_t count) override {
            results_ = co_await run_(call, std::span<const In>(items_).subspan(first, count));
            TENON_ASSERT(results_.size() == count);
        }
        void give(Place& place, std::size_t offset) override {
            static_cast<Seat&>(place).result.emplace(std::move(results_[offset]));
        }
        void clear() override {
            items_.clear();
            results_.clear();
        }

    private:
        const Run& run_;
        std::vector<In> items_;
        std::vector<Out> results_;
    };

    class Line final : public BatchLine {
    public:
        Line(Core& core, const Options& options, Run run)
            : BatchLine(core, options), run_(std::move(run)) {}

    protected:
        std::unique_ptr<BatchRun> make_run() override { return std::make_unique<Items>(run_); }

    private:
        const Run run_;
    };

    Line line_;
};

}  // namespace tenon::runtime
