#include "postgres/exchange.hpp"

#include <boost/asio/use_awaitable.hpp>

#include "postgres/measures.hpp"
#include "postgres/spans.hpp"
#include "runtime/failure.hpp"

namespace tenon::postgres {

namespace asio = boost::asio;

namespace {

// A plan can become stale again while its successor travels; thrice is a schema in motion.
constexpr int repeats_max = 3;

/// Tells the exchange who waits, as long as that one waits.
class Waiting {
public:
    Waiting(runtime::Waiter*& place, runtime::Waiter& waiter) : place_(place) { place_ = &waiter; }
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;
    ~Waiting() { place_ = nullptr; }

private:
    runtime::Waiter*& place_;
};

}  // namespace

Exchange::Exchange(runtime::WaitList& callers, std::vector<Query> queries, Rules rules,
                   runtime::Span span)
    : queries_(std::move(queries)), callers_(callers), rules_(rules), span_(std::move(span)) {
    results_.reserve(queries_.size());
    measures().in_flight.add(1);
}

Exchange::~Exchange() {
    measures().in_flight.add(-1);
}

asio::awaitable<std::vector<Rows>> Exchange::results(runtime::Deadline deadline) {
    if (!done_) {
        runtime::Waiter caller(deadline);
        const Waiting waiting(caller_, caller);
        const runtime::Wake wake = co_await callers_.suspend(caller);
        abandoned_ = !done_;
        if (abandoned_) measures().late.add();
        if (abandoned_) runtime::expect_ready(wake, "PostgreSQL's answer");
    }
    if (failure_) std::rethrow_exception(failure_);
    co_return std::move(results_);
}

void Exchange::fail(std::exception_ptr failure) {
    if (!failure_) failure_ = std::move(failure);
}

bool Exchange::begin_again() {
    if (!stale_ || !rules_.repeatable || abandoned_ || repeats_ == repeats_max) return false;
    ++repeats_;
    measures().stale.add();
    stale_ = false;
    failure_ = nullptr;
    results_.clear();
    return true;
}

void Exchange::lose(bool sent, const std::string& why) {
    if (sent && rules_.writes) {
        fail(std::make_exception_ptr(runtime::OutcomeUnknown(
            "the connection to PostgreSQL was lost before the outcome came: " + why)));
    } else {
        fail(std::make_exception_ptr(
            runtime::Unavailable("the connection to PostgreSQL was lost: " + why,
                                 std::chrono::seconds(1), runtime::Advice::repeat)));
    }
    finish();
}

void Exchange::finish() {
    done_ = true;
    measures().exchange_seconds.observe(std::chrono::steady_clock::now() - began_);
    if (span_ && failure_) span_.fail(failure_for_trace(failure_));
    span_.end();
    if (caller_) callers_.wake(*caller_);
}

}  // namespace tenon::postgres
