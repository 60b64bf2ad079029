#include "runtime/report.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <boost/asio/error.hpp>
#include <boost/system/system_error.hpp>
#include <stdexcept>

namespace tenon::runtime {
namespace {

std::exception_ptr broken() {
    return std::make_exception_ptr(std::runtime_error("the relay broke"));
}

TEST(Report, TellsCancellationFromFailure) {
    EXPECT_TRUE(is_cancellation(std::make_exception_ptr(
        boost::system::system_error(boost::asio::error::operation_aborted))));
    EXPECT_FALSE(is_cancellation(
        std::make_exception_ptr(boost::system::system_error(boost::asio::error::eof))));
    EXPECT_FALSE(is_cancellation(broken()));
    EXPECT_FALSE(is_cancellation(std::make_exception_ptr(7)));
}

TEST(Report, DescribesWhatIsNoStandardExceptionToo) {
    EXPECT_EQ(describe_failure(broken()), "the relay broke");
    EXPECT_EQ(describe_failure(std::make_exception_ptr(7)),
              "an exception that is not a std::exception");
}

/// In a process of its own, whose log no other test has set up.
TEST(ReportDeathTest, NamesTheJobAndTheFailureInTheLog) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    const auto report_and_end = [] {
        report_failure("events.relay", broken());
        ::_exit(0);
    };
    EXPECT_EXIT(report_and_end(), testing::ExitedWithCode(0), "events.relay.*the relay broke");
}

}  // namespace
}  // namespace tenon::runtime
