#include "runtime/batch_line.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <utility>

#include "base/assert.hpp"
#include "base/backoff.hpp"
#include "runtime/batch_spans.hpp"
#include "runtime/failure.hpp"
#include "runtime/wait.hpp"

namespace tenon::runtime {

namespace asio = boost::asio;

namespace {

constexpr int repeats_max = 3;
constexpr base::Backoff::Options repeat_waits{.first = std::chrono::milliseconds(10),
                                              .longest = std::chrono::milliseconds(200)};

Advice advice_of(const std::exception_ptr& failure) {
    try {
        std::rethrow_exception(failure);
    } catch (const Failure& known) {
        return known.advice();
    } catch (...) {
        return Advice::give_up;
    }
}

}  // namespace

/// A run of neighbours within a batch.
struct BatchLine::Part {
    std::size_t first = 0;
    std::size_t count = 0;
};

/// What one lane has in flight. Callers who leave take their place out of `places`.
struct BatchLine::Batch {
    std::unique_ptr<BatchRun> run;
    Places places;
    std::size_t count = 0;
    Call call;
    BatchSpans spans;
};

Place::~Place() {
    if (line_length != nullptr) --*line_length;
}

BatchLine::BatchLine(Core& core, const BatchOptions& options)
    : core_(core), options_(options), waits_(core.io()), tasks_(core.io()) {
    TENON_ASSERT(options.batch_max > 0 && options.in_flight_max > 0);
}

BatchLine::~BatchLine() {
    TENON_ASSERT(lanes_ == 0 || core_.io().stopped());
}

void BatchLine::admit(const Call& call) const {
    if (call.expired()) throw DeadlineExceeded("the deadline passed before a batch was joined");
    if (closed_) throw Unavailable("the batcher is closed", std::chrono::seconds(1));
    if (waiting_ >= options_.queue_max) {
        throw Unavailable("the batcher's queue is full", std::chrono::seconds(1));
    }
}

void BatchLine::append(Place& place) {
    line_.push_back(place);
    place.line_length = &waiting_;
    ++waiting_;
    if (lanes_ < options_.in_flight_max) start_lane();
}

Place& BatchLine::pop() {
    Place& place = line_.front();
    line_.pop_front();
    --*std::exchange(place.line_length, nullptr);
    return place;
}

void BatchLine::start_lane() {
    ++lanes_;
    // Starting in a later turn lets everything that is ready now join the first batch.
    asio::post(core_.io(), [this] { tasks_.spawn("batch", serve()); });
}

asio::awaitable<void> BatchLine::serve() {
    // Counted down here and not by a destructor: a stopped loop destroys this frame after the line.
    try {
        co_await run_batches();
    } catch (...) {
        --lanes_;
        throw;
    }
    --lanes_;
}

asio::awaitable<void> BatchLine::run_batches() {
    Batch batch{.run = make_run(), .places = {}, .count = 0, .call = {}, .spans = {}};
    for (bool idle = false;;) {
        fill(batch);
        if (batch.count > 0) {
            idle = false;
            co_await run_batch(batch);
        } else if (idle) {
            co_return;
        } else {
            // The callers just answered may bring their next items in this turn.
            idle = true;
            co_await asio::post(core_.io(), asio::use_awaitable);
        }
    }
}

void BatchLine::fill(Batch& batch) {
    batch.run->clear();
    batch.count = 0;
    batch.call.priority = Priority::bulk;
    const Deadline now = std::chrono::steady_clock::now();
    while (!line_.empty() && batch.count < options_.batch_max) {
        Place& place = pop();
        if (!place.waits()) continue;  // it has expired or was cancelled, and leaves this turn
        if (place.deadline <= now) {
            waits_.wake(place, Wake::expired);
            continue;
        }
        batch.run->take(place);
        if (place.trace != nullptr && core_.spans() != nullptr) batch.spans.take(*place.trace);
        place.index = batch.count++;
        batch.call.priority = std::max(batch.call.priority, place.priority);
        batch.places.push_back(place);
    }
}

asio::awaitable<void> BatchLine::run_batch(Batch& batch) {
    const Priority priority = batch.call.priority;
    batch.call = core_.make_call(options_.run_limit);
    batch.call.priority = priority;
    batch.spans.begin(batch.call);
    co_await run_part(batch, {.first = 0, .count = batch.count});
    batch.spans.end(core_, batch.call, options_.name, batch.count);
}

/// Runs one part and settles all its items; a part to be split becomes its halves, left first.
asio::awaitable<void> BatchLine::run_part(Batch& batch, Part part) {
    const std::exception_ptr failure = co_await try_part(batch, part);
    if (!failure || part.count == 1 || advice_of(failure) != Advice::split) {
        settle(batch, part, failure);
        co_return;
    }
    const std::size_t half = part.count / 2;
    co_await run_part(batch, {.first = part.first, .count = half});
    co_await run_part(batch, {.first = part.first + half, .count = part.count - half});
}

/// Null when the part succeeded, else what it failed by after the repeats it may have.
asio::awaitable<std::exception_ptr> BatchLine::try_part(Batch& batch, Part part) {
    base::Backoff backoff(repeat_waits, core_.random());
    for (int repeats = 0;; ++repeats) {
        if (batch.call.expired()) {
            co_return std::make_exception_ptr(DeadlineExceeded("the batch's run limit passed"));
        }
        const std::exception_ptr failure = co_await run_once(batch, part);
        if (!failure || repeats == repeats_max || advice_of(failure) != Advice::repeat) {
            co_return failure;
        }
        const auto pause = backoff.next();
        if (batch.call.remaining() <= pause) co_return failure;
        co_await pause_for(pause);
    }
}

asio::awaitable<std::exception_ptr> BatchLine::run_once(Batch& batch, Part part) {
    try {
        co_await batch.run->run(batch.call, part.first, part.count);
        co_return nullptr;
    } catch (...) {
        co_return std::current_exception();
    }
}

void BatchLine::settle(Batch& batch, Part part, const std::exception_ptr& failure) {
    const std::size_t end = part.first + part.count;
    while (!batch.places.empty() && batch.places.front().index < end) {
        Place& place = batch.places.front();
        batch.places.pop_front();
        if (failure) {
            place.failure = failure;
        } else {
            batch.run->give(place, place.index - part.first);
        }
        waits_.wake(place);
    }
}

asio::awaitable<void> BatchLine::close() {
    closed_ = true;
    while (!line_.empty()) {
        Place& place = pop();
        place.failure =
            std::make_exception_ptr(Unavailable("the batcher was closed", std::chrono::seconds(1)));
        waits_.wake(place);
    }
    while (lanes_ > 0) {
        co_await asio::post(core_.io(), asio::use_awaitable);
        co_await tasks_.join();
    }
    waits_.rest();
}

}  // namespace tenon::runtime
