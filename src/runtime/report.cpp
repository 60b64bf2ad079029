#include "runtime/report.hpp"

#include <boost/asio/error.hpp>
#include <boost/system/system_error.hpp>

#include "runtime/log.hpp"
#include "runtime/metrics.hpp"

namespace tenon::runtime {

bool is_cancellation(const std::exception_ptr& failure) {
    try {
        std::rethrow_exception(failure);
    } catch (const boost::system::system_error& error) {
        return error.code() == boost::asio::error::operation_aborted;
    } catch (...) {
        return false;
    }
}

std::string describe_failure(const std::exception_ptr& failure) {
    try {
        std::rethrow_exception(failure);
    } catch (const std::exception& error) {
        return error.what();
    } catch (...) {
        return "an exception that is not a std::exception";
    }
}

void report_failure(std::string_view name, const std::exception_ptr& failure) {
    metrics()
        .counter({.name = "tenon_runtime_failures_total",
                  .help = "How often background work ended by an exception.",
                  .labels = {{"job", std::string(name)}}})
        .add();
    log(Level::error, "Background work ended by an exception.",
        {{"job", name}, {"failure", describe_failure(failure)}});
}

}  // namespace tenon::runtime
