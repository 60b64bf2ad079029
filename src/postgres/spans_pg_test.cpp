// What a trace is told of real round trips.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "postgres/test_pool.hpp"
#include "runtime/span_queue.hpp"

namespace tenon::postgres {
namespace {

namespace asio = boost::asio;
using testing::HasSubstr;
using testing::SizeIs;

class Traced : public testing::Test {
protected:
    Traced() { test_.host.core.keep_spans({}); }
    runtime::Call sampled() {
        auto call = test_.host.call();
        call.trace.sampled = true;
        return call;
    }
    std::vector<runtime::EndedSpan> ended() { return test_.host.core.spans()->take(100); }
    static std::string fact(const runtime::EndedSpan& span, std::string_view name) {
        for (const auto& one : span.attributes) {
            if (one.name != name) continue;
            const auto* number = std::get_if<std::int64_t>(&one.value);
            return number != nullptr ? std::to_string(*number) : std::get<std::string>(one.value);
        }
        return "none";
    }
    TestPool test_;
};

TEST_F(Traced, ARoundTripIsAChildOfItsCall) {
    auto call = sampled();
    const std::string secret = "a value";
    test_.host.run(test_.pool.query(call, {{"SELECT $1::text"}, Parameters::of(secret), false}));
    const auto all = ended();
    ASSERT_THAT(all, SizeIs(1));
    EXPECT_EQ(all[0].trace.trace_id, call.trace.trace_id);
    EXPECT_EQ(all[0].trace.parent_id, call.trace.span_id);
    EXPECT_EQ(all[0].kind, runtime::SpanKind::client);
    EXPECT_EQ(all[0].name, "SELECT");
    EXPECT_EQ(fact(all[0], "db.system.name"), "postgresql");
    EXPECT_EQ(fact(all[0], "db.operation.name"), "SELECT");
    EXPECT_EQ(fact(all[0], "db.query.text"), "SELECT $1::text");
    EXPECT_FALSE(all[0].failed);
}

TEST_F(Traced, StatementsThatTravelTogetherAreOneRoundTrip) {
    auto call = sampled();
    test_.host.run(test_.pool.atomically(call, {{{"SELECT 1"}, {}}, {{"SELECT 2"}, {}}}));
    const auto all = ended();
    ASSERT_THAT(all, SizeIs(1));
    EXPECT_EQ(all[0].name, "BATCH SELECT");
    EXPECT_EQ(fact(all[0], "db.operation.batch.size"), "2");
}

TEST_F(Traced, WhatTheServerRefusesIsAFailure) {
    auto call = sampled();
    EXPECT_THROW(test_.host.run(test_.pool.query(call, {{"SELECT 1/0"}, {}})), QueryFailed);
    const auto all = ended();
    ASSERT_THAT(all, SizeIs(1));
    EXPECT_TRUE(all[0].failed);
    EXPECT_EQ(all[0].failure, "SQLSTATE 22012");
}

asio::awaitable<void> transact(Pool& pool, runtime::Call& call) {
    call.trace.sampled = true;
    auto transaction = co_await pool.begin(call);
    co_await transaction.query(call, {{"SELECT 1"}, {}});
    co_await transaction.commit(call);
}

TEST_F(Traced, ATransactionsRoundTripsAreToldEach) {
    test_.run(transact);
    const auto all = ended();
    ASSERT_THAT(all, SizeIs(2));
    EXPECT_EQ(all[0].name, "BATCH SELECT");
    EXPECT_EQ(all[1].name, "COMMIT");
}

TEST_F(Traced, CallsThatAreNotSampledLeaveNothing) {
    static_cast<void>(test_.query("SELECT 1"));
    EXPECT_THAT(ended(), SizeIs(0));
}

}  // namespace
}  // namespace tenon::postgres
