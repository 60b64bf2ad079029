#include "runtime/log.hpp"

#include <gtest/gtest.h>

#include <array>
#include <boost/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "runtime/call.hpp"

namespace tenon::runtime {
namespace {

constexpr base::Time noon{std::chrono::microseconds(1'764'504'000'123'456)};

LogLine line_of(std::string_view message, Fields fields = {}) {
    return {Level::warning, noon, message, nullptr, fields.begin(), fields.end()};
}

// A stream that gives back what was written.
class Capture {
public:
    Capture() : stream_(std::tmpfile()) {}
    ~Capture() { std::fclose(stream_); }
    Capture(const Capture&) = delete;
    Capture& operator=(const Capture&) = delete;
    [[nodiscard]] std::FILE* stream() const { return stream_; }
    [[nodiscard]] std::string text() const {
        std::rewind(stream_);
        std::string all;
        std::array<char, 4096> block{};
        while (const std::size_t n = std::fread(block.data(), 1, block.size(), stream_)) {
            all.append(block.data(), n);
        }
        return all;
    }

private:
    std::FILE* stream_;
};

TEST(Log, JsonLineHoldsTimeLevelMessageAndTypedFields) {
    const std::string text = format_json_line(line_of(
        "A pool is full", {{"waiting", 12}, {"ratio", 0.5}, {"up", true}, {"node", "db \"1\""}}));
    EXPECT_EQ(text, R"({"time":"2025-11-30T12:00:00.123456Z","level":"warning",)"
                    R"("message":"A pool is full","waiting":12,"ratio":0.5,"up":true,)"
                    R"("node":"db \"1\""})");
}

TEST(Log, JsonLineStaysJsonWithHostileBytes) {
    const std::string text =
        format_json_line(line_of("a\nb", {{"x", std::string_view("\xff\x00\x1b[31m", 7)}}));
    const auto parsed = boost::json::parse(text).as_object();
    EXPECT_EQ(parsed.at("message").as_string(), "a\nb");
    EXPECT_EQ(text.find('\n'), std::string::npos);
}

TEST(Log, HumanLineCannotBeForgedByAValue) {
    const std::string text = format_human_line(
        line_of("one\ntwo", {{"a", "b c"}, {"d", "e\x1b[0m"}, {"f", "g"}}), false);
    EXPECT_EQ(text, R"(12:00:00.123 warning one\ntwo a="b c" d="e\u001b[0m" f=g)");
}

TEST(Log, ColourOnlyWhenAsked) {
    EXPECT_EQ(format_human_line(line_of("x"), false).find('\033'), std::string::npos);
    EXPECT_NE(format_human_line(line_of("x"), true).find('\033'), std::string::npos);
}

TEST(Log, TraceAndProjectComeFromTheCall) {
    Call call;
    call.trace.trace_id[15] = 0xab;
    call.project.bytes[0] = 0x01;
    LogLine line = line_of("x");
    line.call = &call;
    const auto parsed = boost::json::parse(format_json_line(line)).as_object();
    EXPECT_EQ(parsed.at("trace_id").as_string(), "000000000000000000000000000000ab");
    EXPECT_EQ(parsed.at("project").as_string(), "01000000-0000-0000-0000-000000000000");
}

TEST(Log, TheClientOfACallIsNamed) {
    Call call;
    const LogLine of_nobody{Level::info, noon, "x", &call, nullptr, nullptr};
    EXPECT_EQ(format_json_line(of_nobody).find("client"), std::string::npos);
    call.client_address = "2001:db8::9";
    const LogLine line{Level::info, noon, "x", &call, nullptr, nullptr};
    EXPECT_EQ(boost::json::parse(format_json_line(line)).at("client").as_string(), "2001:db8::9");
    EXPECT_NE(format_human_line(line, false).find(" client=2001:db8::9"), std::string::npos);
}

TEST(Log, SecretsAreMaskedWhereverTheyStand) {
    const std::string text = format_json_line(line_of(
        "Authorization: Bearer abc.def was sent", {{"conninfo", "host=x password='p\\'w d' user=u"},
                                                   {"url", "postgres://u:pw123@host/db"},
                                                   {"note", "key tnk_SECRETSECRET used"},
                                                   {"password", "plain1"},
                                                   {"signing_key", "plain2"},
                                                   {"value", Secret("plain3")}}));
    for (const char* secret :
         {"abc.def", "w d", "pw123", "SECRETSECRET", "plain1", "plain2", "plain3"}) {
        EXPECT_EQ(text.find(secret), std::string::npos) << text;
    }
    EXPECT_NE(text.find("user=u"), std::string::npos) << text;
    EXPECT_NE(text.find("@host/db"), std::string::npos) << text;
}

TEST(Log, CountsOfTokensAreNoSecrets) {
    EXPECT_EQ(format_human_line(line_of("x", {{"tokens", 5}, {"token", "abc"}}), false),
              R"(12:00:00.123 warning x tokens=5 token="********")");
}

TEST(Log, LinesBelowTheLevelAreNotWritten) {
    const Capture capture;
    start_logging({Level::warning, LogForm::json, false, 16, capture.stream()});
    log(Level::info, "hidden");
    log(Level::error, "shown", {{"n", 1}});
    EXPECT_FALSE(logs(Level::info));
    EXPECT_TRUE(logs(Level::warning));
    const std::string text = capture.text();
    start_logging({});
    EXPECT_EQ(text.find("hidden"), std::string::npos);
    EXPECT_NE(text.find("shown"), std::string::npos);
}

TEST(Log, StopWritesWhatWasQueuedByManyThreads) {
    const Capture capture;
    start_logging({Level::info, LogForm::automatic, true, 8'192, capture.stream()});
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([i] {
            for (int n = 0; n < 250; ++n) log(Level::info, "line", {{"thread", i}, {"n", n}});
        });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(log_lines_dropped(), 0U);
    stop_logging();
    const std::string text = capture.text();
    start_logging({});
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1000);
    // Automatic means JSON where there is no terminal.
    EXPECT_TRUE(text.starts_with("{\"time\":"));
}

TEST(Log, AFullQueueDropsLinesAndCountsThem) {
    const Capture capture;
    start_logging({Level::info, LogForm::json, true, 1, capture.stream()});
    constexpr std::size_t sent = 2'000;
    for (std::size_t n = 0; n < sent; ++n) log(Level::info, "line", {{"n", n}});
    const std::size_t dropped = log_lines_dropped();
    stop_logging();
    const std::string text = capture.text();
    start_logging({});
    const auto written = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
    EXPECT_EQ(written + dropped, sent);
}

}  // namespace
}  // namespace tenon::runtime
