#include "runtime/span_exporter.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <deque>
#include <string>
#include <vector>

#include "runtime/failure.hpp"
#include "runtime/task_group.hpp"
#include "runtime/test_core.hpp"

namespace tenon::runtime {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

ExportOptions quick() {
    return {
        .every = 1ms, .batch_max = 4, .attempts_max = 3, .backoff = {.first = 1ms, .longest = 2ms}};
}

/// An exporter whose collector gives the answers of a list and then 200; 0 means it is away.
class Exporting : public testing::Test {
protected:
    Exporting() {
        test_.core.keep_spans({.waiting = 100});
        exporter_ = std::make_unique<SpanExporter>(
            test_.core, std::vector<SpanQueue*>{test_.core.spans()}, quick(),
            [this](Call& call, const std::string& body) { return post(call, body); });
    }

    asio::awaitable<ExportAnswer> post(Call& call, const std::string& body) {
        EXPECT_LE(call.remaining(), 5s);
        posts_.push_back(names_in(body));
        ExportAnswer answer{.status = 200, .retry_after = std::nullopt, .body = body_};
        if (!answers_.empty()) {
            answer.status = answers_.front();
            answers_.pop_front();
        }
        if (posts_.size() >= awaited_) enough_.set();
        if (answer.status == 0) throw Unavailable("nobody listens", 1s);
        co_return answer;
    }
    static std::string names_in(const std::string& body) {
        const auto whole = boost::json::parse(body);
        std::string names;
        for (const auto& span :
             whole.at("resourceSpans").at(0).at("scopeSpans").at(0).at("spans").as_array()) {
            names += std::string_view(span.at("name").as_string());
        }
        return names;
    }

    void put(const std::string& names) {
        for (const char name : names) {
            EndedSpan span;
            span.name = name;
            test_.core.spans()->put(std::move(span));
        }
    }
    /// Exports until the collector was asked that often.
    void run_until_posts(std::size_t count) {
        awaited_ = count;
        enough_.reset();
        TaskGroup tasks(test_.core.io());
        tasks.spawn("exporter", exporter_->run());
        test_.run(enough_.wait());
        test_.turn();
        tasks.cancel();
        test_.run(tasks.join());
    }
    std::uint64_t lost(SpanLoss why) { return spans_dropped(why).value(); }

    TestCore test_;
    std::deque<int> answers_;
    std::string body_;
    std::vector<std::string> posts_;
    std::size_t awaited_ = 0;
    Event enough_{test_.core.io()};
    std::unique_ptr<SpanExporter> exporter_;
    const std::uint64_t refused_ = lost(SpanLoss::refused);
    const std::uint64_t unreachable_ = lost(SpanLoss::unreachable);
    const std::uint64_t shutdown_ = lost(SpanLoss::shutdown);
    const Counter exported_ = metrics().counter(
        {.name = "tenon_trace_spans_exported_total", .help = "Spans that the collector took."});
    const std::uint64_t exported_before_ = exported_.value();
};

TEST_F(Exporting, PostsEverythingInBatches) {
    put("abcdefghi");
    run_until_posts(3);
    EXPECT_THAT(posts_, ElementsAre("abcd", "efgh", "i"));
    EXPECT_EQ(exported_.value() - exported_before_, 9U);
}

TEST_F(Exporting, ABusyCoreLeavesRoomForTheOthers) {
    SpanQueue other({.waiting = 100});
    exporter_ = std::make_unique<SpanExporter>(
        test_.core, std::vector<SpanQueue*>{test_.core.spans(), &other}, quick(),
        [this](Call& call, const std::string& body) { return post(call, body); });
    put("aaaaaaaaaaa");
    EndedSpan quiet;
    quiet.name = "z";
    other.put(std::move(quiet));
    run_until_posts(3);
    EXPECT_THAT(posts_, ElementsAre("aaaa", "zaaa", "aaaa"));
}

TEST_F(Exporting, RepeatsWhatWasNotTakenAndThenGoesOn) {
    put("abcde");
    answers_ = {503, 0};
    run_until_posts(4);
    EXPECT_THAT(posts_, ElementsAre("abcd", "abcd", "abcd", "e"));
    EXPECT_EQ(exported_.value() - exported_before_, 5U);
    EXPECT_EQ(lost(SpanLoss::unreachable), unreachable_);
}

TEST_F(Exporting, DropsABatchAfterItsLastAttemptAndCountsIt) {
    put("abcde");
    answers_ = {0, 429, 0};
    run_until_posts(4);
    EXPECT_THAT(posts_, ElementsAre("abcd", "abcd", "abcd", "e"));
    EXPECT_EQ(lost(SpanLoss::unreachable) - unreachable_, 4U);
}

TEST_F(Exporting, DropsAtOnceWhatIsRefused) {
    put("abcde");
    answers_ = {400};
    run_until_posts(2);
    EXPECT_THAT(posts_, ElementsAre("abcd", "e"));
    EXPECT_EQ(lost(SpanLoss::refused) - refused_, 4U);
}

TEST_F(Exporting, CountsWhatASuccessRefused) {
    put("abc");
    body_ = R"({"partialSuccess":{"rejectedSpans":"2"}})";
    run_until_posts(1);
    EXPECT_EQ(lost(SpanLoss::refused) - refused_, 2U);
    EXPECT_EQ(exported_.value() - exported_before_, 1U);
}

TEST_F(Exporting, FlushPostsWhatIsLeftOnce) {
    put("abcde");
    answers_ = {0};
    auto call = test_.call();
    test_.run(exporter_->flush(call));
    EXPECT_THAT(posts_, ElementsAre("abcd", "e"));
    EXPECT_EQ(lost(SpanLoss::shutdown) - shutdown_, 4U);
}

TEST_F(Exporting, FlushBeyondItsDeadlinePostsNothing) {
    put("abcde");
    auto call = test_.call(0s);
    test_.run(exporter_->flush(call));
    EXPECT_THAT(posts_, IsEmpty());
    EXPECT_EQ(lost(SpanLoss::shutdown) - shutdown_, 5U);
}

TEST(ExportVerdicts, FollowTheProtocol) {
    for (const int status : {200, 202, 204}) {
        EXPECT_EQ(judge_export(status), ExportVerdict::delivered) << status;
    }
    for (const int status : {429, 502, 503, 504}) {
        EXPECT_EQ(judge_export(status), ExportVerdict::repeat) << status;
    }
    for (const int status : {199, 301, 400, 401, 404, 413, 500, 501, 505}) {
        EXPECT_EQ(judge_export(status), ExportVerdict::refused) << status;
    }
}

TEST(ExportVerdicts, RetryAfterIsWaitedForWithinABound) {
    EXPECT_EQ(pause_before_repeat(500ms, std::nullopt, 60s), 500ms);
    EXPECT_EQ(pause_before_repeat(500ms, 7s, 60s), 7s);
    EXPECT_EQ(pause_before_repeat(9s, 7s, 60s), 9s);
    EXPECT_EQ(pause_before_repeat(500ms, std::chrono::seconds(1'000'000), 60s), 60s);
}

}  // namespace
}  // namespace tenon::runtime
