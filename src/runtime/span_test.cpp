#include "runtime/span.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <list>
#include <stdexcept>
#include <string>
#include <vector>

#include "runtime/batcher.hpp"
#include "runtime/single_flight.hpp"
#include "runtime/span_queue.hpp"
#include "runtime/test_core.hpp"

namespace tenon::runtime {
namespace {

namespace asio = boost::asio;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

class Spans : public testing::Test {
protected:
    Spans() { test_.core.keep_spans({}); }
    Call sampled() {
        Call call = test_.call();
        call.trace.sampled = true;
        return call;
    }
    std::vector<EndedSpan> ended() { return test_.core.spans()->take(1'000); }
    TestCore test_;
};

TEST_F(Spans, AreChildrenOfWhatTheCallRuns) {
    Call call = sampled();
    call.trace.state = "a=1";
    {
        Span span(call, SpanKind::client, "SELECT");
        EXPECT_TRUE(span);
        span.set("db.system.name", "postgresql");
        span.set("rows", 3);
        EXPECT_THAT(ended(), IsEmpty());
    }
    const auto all = ended();
    ASSERT_THAT(all, SizeIs(1));
    EXPECT_EQ(all[0].trace.trace_id, call.trace.trace_id);
    EXPECT_EQ(all[0].trace.parent_id, call.trace.span_id);
    EXPECT_NE(all[0].trace.span_id, call.trace.span_id);
    EXPECT_NE(all[0].trace.span_id, SpanId{});
    EXPECT_EQ(all[0].trace.state, "a=1");
    EXPECT_EQ(all[0].name, "SELECT");
    EXPECT_THAT(all[0].attributes, SizeIs(2));
    EXPECT_FALSE(all[0].failed);
    EXPECT_LE(all[0].begin, all[0].end);
}

TEST_F(Spans, EndOnceWhetherMovedOrTold) {
    const Call call = sampled();
    Span first(call, SpanKind::internal, "first");
    Span second = std::move(first);
    second.fail(std::make_exception_ptr(std::runtime_error("it broke")));
    second.end();
    second.end();
    first = Span(call, SpanKind::internal, "third");
    first = Span();
    const auto all = ended();
    ASSERT_THAT(all, SizeIs(2));
    EXPECT_TRUE(all[0].failed);
    EXPECT_EQ(all[0].failure, "it broke");
    EXPECT_EQ(all[1].name, "third");
}

TEST_F(Spans, AreNotKeptUnlessTheCallIsSampled) {
    const Call call = test_.call();
    EXPECT_FALSE(Span(call, SpanKind::internal, "nothing"));
    EXPECT_THAT(ended(), IsEmpty());
}

TEST(SpansNotKept, ASampledCallLeavesNothingWhereNobodyAsked) {
    TestCore test;
    Call call = test.call();
    call.trace.sampled = true;
    EXPECT_FALSE(Span(call, SpanKind::internal, "nothing"));
}

EndedSpan named(std::string name) {
    EndedSpan span;
    span.name = std::move(name);
    return span;
}

TEST(SpanQueue, KeepsTheOldestWithinItsBoundAndCountsTheRest) {
    SpanQueue queue({.waiting = 3});
    const auto before = spans_dropped(SpanLoss::queue_full).value();
    for (const char* name : {"a", "b", "c", "d", "e"}) queue.put(named(name));
    EXPECT_EQ(spans_dropped(SpanLoss::queue_full).value() - before, 2U);
    const auto two = queue.take(2);
    ASSERT_THAT(two, SizeIs(2));
    EXPECT_EQ(two[0].name + two[1].name, "ab");
    queue.put(named("f"));
    const auto rest = queue.take(9);
    ASSERT_THAT(rest, SizeIs(2));
    EXPECT_EQ(rest[0].name + rest[1].name, "cf");
    EXPECT_THAT(queue.take(9), IsEmpty());
}

TraceId trace_of(std::uint64_t number) {
    TraceId id{};
    for (std::size_t i = 0; i < 8; ++i) {
        id[15 - i] = static_cast<std::uint8_t>(number >> (8 * i));
    }
    return id;
}

RC_GTEST_PROP(SpanQueue, ALargerShareHoldsTheSmallerOne, (std::uint64_t number)) {
    const double ratio = *rc::gen::inRange(0, 1'001) / 1'000.0;
    const auto id = trace_of(number);
    const bool kept = SpanQueue({.sample_ratio = ratio}).samples(id);
    RC_ASSERT(!kept || SpanQueue({.sample_ratio = std::min(1.0, ratio * 1.5)}).samples(id));
    RC_ASSERT(SpanQueue({.sample_ratio = 1}).samples(id));
    RC_ASSERT(!SpanQueue({.sample_ratio = 0}).samples(id));
}

TEST(SpanQueue, SamplesItsShareOfRandomTraces) {
    const SpanQueue queue({.sample_ratio = 0.25});
    base::SeededRandom random(1);
    int kept = 0;
    for (int i = 0; i < 10'000; ++i) {
        TraceId id{};
        random.fill(id);
        kept += queue.samples(id) ? 1 : 0;
    }
    EXPECT_GT(kept, 2'300);
    EXPECT_LT(kept, 2'700);
}

/// A batcher whose runs have a span of their own.
class BatchesTraced : public Spans {
public:
    ~BatchesTraced() override { test_.run(batcher_.close()); }

protected:
    void add(const Trace& trace) {
        calls_.push_back(test_.call());
        calls_.back().trace = trace;
        callers_.spawn("caller", ask(calls_.back()));
    }
    asio::awaitable<void> ask(Call& call) { static_cast<void>(co_await batcher_.add(call, 1)); }
    asio::awaitable<std::vector<int>> run(Call& call, std::span<const int> items) {
        const Span own(call, SpanKind::client, "round trip");
        co_return std::vector<int>(items.begin(), items.end());
    }
    std::vector<EndedSpan> finish() {
        test_.run(callers_.join());
        test_.turn();
        return ended();
    }

    Batcher<int, int> batcher_{
        test_.core, {.name = "things batch"}, [this](Call& call, std::span<const int> items) {
            return run(call, items);
        }};
    std::list<Call> calls_;
    TaskGroup callers_{test_.core.io()};
};

TEST_F(BatchesTraced, EverySampledItemHasAChildAndAllAreLinked) {
    const Trace one = sampled().trace;
    const Trace two = sampled().trace;
    add(test_.call().trace);
    add(one);
    add(one);
    add(two);
    const auto all = finish();
    ASSERT_THAT(all, SizeIs(3));
    const auto& trip = all[0];
    const auto& other = all[1];
    const auto& shared = all[2];
    EXPECT_EQ(shared.name, "things batch");
    EXPECT_EQ(std::get<std::int64_t>(shared.attributes.at(0).value), 4);
    EXPECT_EQ(shared.trace.trace_id, one.trace_id);
    EXPECT_EQ(shared.trace.parent_id, one.span_id);
    EXPECT_EQ(trip.trace.trace_id, one.trace_id);
    EXPECT_EQ(trip.trace.parent_id, shared.trace.span_id);
    EXPECT_EQ(other.trace.trace_id, two.trace_id);
    EXPECT_EQ(other.trace.parent_id, two.span_id);
    EXPECT_THAT(other.links, ElementsAre(SpanLink{one.trace_id, shared.trace.span_id}));
    EXPECT_THAT(shared.links, ElementsAre(SpanLink{two.trace_id, two.span_id}));
}

TEST_F(BatchesTraced, ABatchOfUnsampledItemsLeavesNothing) {
    add(test_.call().trace);
    EXPECT_THAT(finish(), IsEmpty());
    add(sampled().trace);
    EXPECT_THAT(finish(), SizeIs(2));
    add(test_.call().trace);
    EXPECT_THAT(finish(), IsEmpty());
}

asio::awaitable<int> load(Call& call) {
    const Span own(call, SpanKind::client, "round trip");
    co_return 1;
}

TEST_F(Spans, ALoadBelongsToWhoStartedIt) {
    SingleFlight<int, int> flights(test_.core, {});
    Call call = sampled();
    EXPECT_EQ(test_.run(flights.get(call, 7, load)), 1);
    const auto all = ended();
    ASSERT_THAT(all, SizeIs(1));
    EXPECT_EQ(all[0].trace.trace_id, call.trace.trace_id);
    EXPECT_EQ(all[0].trace.parent_id, call.trace.span_id);
    test_.run(flights.close());
}

}  // namespace
}  // namespace tenon::runtime
