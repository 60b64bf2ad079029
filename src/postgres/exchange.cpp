#include "postgres/exchange.hpp"

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "runtime/failure.hpp"

namespace tenon::postgres {

namespace asio = boost::asio;

namespace {

// A plan can become stale again while its successor travels; thrice is a schema in motion.
constexpr int repeats_max = 3;

}  // namespace

Exchange::Exchange(asio::io_context& io, std::vector<Query> queries, Rules rules)
    : queries_(std::move(queries)), woken_(io), rules_(rules) {
    results_.reserve(queries_.size());
}

asio::awaitable<std::vector<Rows>> Exchange::results(runtime::Deadline deadline) {
    if (!done_) {
        boost::system::error_code woken;
        woken_.expires_at(deadline);
        co_await woken_.async_wait(asio::redirect_error(asio::use_awaitable, woken));
        if (!done_) {
            abandoned_ = true;
            if (woken) throw boost::system::system_error(woken);
            throw runtime::DeadlineExceeded("PostgreSQL did not answer before the deadline");
        }
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
    woken_.cancel();
}

}  // namespace tenon::postgres
