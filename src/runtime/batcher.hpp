// Natural batching: while one batch is in flight, new requests gather for the next.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstddef>
#include <functional>
#include <span>
#include <vector>

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
/// Cost:    one allocation per item.
template <class In, class Out>
class Batcher {
public:
    struct Options {
        std::size_t batch_max = 512;
        std::size_t in_flight_max = 1;
        std::size_t queue_max = 65'536;
        /// How long a batch may run: its own deadline, not the first caller's.
        std::chrono::milliseconds run_limit{5'000};
    };
    /// Returns one Out per item, in order. The span lives until it returns; the Call is the
    /// batch's own, with the highest priority among its items.
    using Run =
        std::function<boost::asio::awaitable<std::vector<Out>>(Call&, std::span<const In>)>;

    Batcher(Core& core, Options options, Run run);
    ~Batcher();
    boost::asio::awaitable<Out> add(Call& call, In item);
    /// Refuses new items and returns when the running batches have ended.
    boost::asio::awaitable<void> close();
    [[nodiscard]] std::size_t waiting() const;
};

}  // namespace tenon::runtime
