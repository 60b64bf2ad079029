#include "runtime/log.hpp"

#include <fmt/format.h>
#include <spdlog/async.h>
#include <spdlog/async_logger.h>
#include <spdlog/logger.h>
#include <spdlog/sinks/base_sink.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <mutex>

#include "base/hash.hpp"
#include "base/rfc3339.hpp"
#include "runtime/call.hpp"
#include "runtime/environment.hpp"
#include "runtime/json_text.hpp"
#include "runtime/tint.hpp"

namespace tenon::runtime {
namespace {

// Lines arrive whole; spdlog queues and hands them here.
class StreamSink final : public spdlog::sinks::base_sink<std::mutex> {
public:
    explicit StreamSink(std::FILE* stream) : stream_(stream) {}

private:
    void sink_it_(const spdlog::details::log_msg& message) override {
        std::fwrite(message.payload.data(), 1, message.payload.size(), stream_);
        std::fflush(stream_);
    }
    void flush_() override { std::fflush(stream_); }

    std::FILE* stream_;
};

struct State {
    LogOptions options;
    bool as_json = false;
    bool coloured = false;
    std::shared_ptr<spdlog::logger> logger;
    // Null: the caller writes. Below the logger, so that its thread has ended before the logger
    // does.
    std::shared_ptr<spdlog::details::thread_pool> writer;
};

std::unique_ptr<State> make_state(const LogOptions& options) {
    auto state = std::make_unique<State>();
    state->options = options;
    const bool in_terminal = ::isatty(::fileno(options.stream)) == 1;
    state->as_json =
        options.form == LogForm::json || (options.form == LogForm::automatic && !in_terminal);
    const bool wanted =
        in_terminal && environment_value("NO_COLOR").empty() && environment_value("TERM") != "dumb";
    state->coloured = options.coloured.value_or(wanted);
    auto sink = std::make_shared<StreamSink>(options.stream);
    if (options.asynchronous) {
        state->writer = std::make_shared<spdlog::details::thread_pool>(options.queue_max, 1);
        state->logger = std::make_shared<spdlog::async_logger>(
            "tenon", std::move(sink), state->writer, spdlog::async_overflow_policy::overrun_oldest);
    } else {
        state->logger = std::make_shared<spdlog::logger>("tenon", std::move(sink));
    }
    state->logger->set_level(spdlog::level::trace);
    return state;
}

LogOptions early_options() {
    LogOptions options;
    options.form = LogForm::human;
    options.asynchronous = false;
    return options;
}

// Replaced by start_logging and stop_logging only, while no other thread logs.
std::unique_ptr<State>& state() {
    static std::unique_ptr<State> held = make_state(early_options());
    return held;
}

std::atomic<Level> level_in_force{Level::info};

void append_json_value(std::string& out, const Field& field) {
    std::visit(
        [&](const auto& value) {
            using T = std::decay_t<decltype(value)>;
            if constexpr (std::is_same_v<T, std::string_view>) {
                // Numbers are counts, such as those of a limit's tokens.
                append_json_string(out,
                                   names_secret(field.key()) ? secret_mask : mask_secrets(value));
            } else if constexpr (std::is_same_v<T, double>) {
                // JSON has no NaN and no infinity.
                out += std::isfinite(value) ? fmt::format("{}", value) : "null";
            } else {
                fmt::format_to(std::back_inserter(out), "{}", value);
            }
        },
        field.value());
}

// Words stand bare; everything else is quoted, so that a line can be taken apart again.
bool is_bare(std::string_view text) {
    if (text.empty()) return false;
    for (const char c : text) {
        if (c <= ' ' || c == '"' || c == '=' || c == '\\' || c == '\x7f') return false;
    }
    return true;
}

void append_human_value(std::string& out, const Field& field) {
    const auto* text = std::get_if<std::string_view>(&field.value());
    if (text == nullptr || names_secret(field.key())) return append_json_value(out, field);
    const std::string masked = mask_secrets(*text);
    if (is_bare(masked)) {
        out += masked;
    } else {
        append_json_string(out, masked);
    }
}

// With all digits, so that columns stay where they are.
std::string format_instant(base::Time time) {
    const auto second = std::chrono::floor<std::chrono::seconds>(time);
    std::string text = base::format_time(second);
    text.pop_back();
    return fmt::format("{}.{:06}Z", text, (time - second).count());
}

bool has_trace(const LogLine& line) {
    return line.call != nullptr && line.call->trace.trace_id != decltype(Trace::trace_id){};
}

std::string_view client_of(const LogLine& line) {
    return line.call == nullptr ? std::string_view() : line.call->client_address;
}

Tint tint_of(Level level) {
    switch (level) {
        case Level::debug:
            return Tint::faint;
        case Level::info:
            return Tint::green;
        case Level::warning:
            return Tint::yellow;
        case Level::error:
            break;
    }
    return Tint::red;
}

void write(const LogLine& line) {
    State& to = *state();
    std::string text = to.as_json ? format_json_line(line) : format_human_line(line, to.coloured);
    text += '\n';
    to.logger->log(spdlog::level::info, spdlog::string_view_t(text.data(), text.size()));
}

// Lines carry the machine's time, also where business time was moved.
base::Time machine_time() {
    return base::SystemClock().now();
}

}  // namespace

std::string_view name_of(Level level) {
    switch (level) {
        case Level::debug:
            return "debug";
        case Level::info:
            return "info";
        case Level::warning:
            return "warning";
        case Level::error:
            return "error";
    }
    return "error";
}

std::string format_json_line(const LogLine& line) {
    std::string out = fmt::format(R"({{"time":"{}","level":"{}","message":)",
                                  format_instant(line.time), name_of(line.level));
    append_json_string(out, mask_secrets(line.message));
    if (has_trace(line)) {
        fmt::format_to(std::back_inserter(out), R"(,"trace_id":"{}")",
                       base::to_hex(line.call->trace.trace_id));
    }
    if (line.call != nullptr && !line.call->project.is_nil()) {
        fmt::format_to(std::back_inserter(out), R"(,"project":"{}")",
                       base::format_uuid(line.call->project));
    }
    if (const auto client = client_of(line); !client.empty()) {
        out += R"(,"client":)";
        append_json_string(out, client);
    }
    for (const Field* field = line.fields_begin; field != line.fields_end; ++field) {
        out += ',';
        append_json_string(out, field->key());
        out += ':';
        append_json_value(out, *field);
    }
    out += '}';
    return out;
}

std::string format_human_line(const LogLine& line, bool coloured) {
    const std::string instant = format_instant(line.time);
    std::string sentence;
    append_json_string(sentence, mask_secrets(line.message));
    // The escapes are wanted, the quotes are not.
    sentence = sentence.substr(1, sentence.size() - 2);
    const std::string level = fmt::format("{:7}", name_of(line.level));
    std::string out = fmt::format("{} {} {}", std::string_view(instant).substr(11, 12),
                                  coloured ? tinted(tint_of(line.level), level) : level, sentence);
    for (const Field* field = line.fields_begin; field != line.fields_end; ++field) {
        out += ' ';
        out += field->key();
        out += '=';
        append_human_value(out, *field);
    }
    if (const auto client = client_of(line); !client.empty()) out.append(" client=").append(client);
    if (has_trace(line)) out += " trace=" + base::to_hex(line.call->trace.trace_id);
    return out;
}

bool logs(Level level) {
    return level >= level_in_force.load(std::memory_order_relaxed);
}

void log(Level level, std::string_view message, Fields fields) {
    if (!logs(level)) return;
    write({level, machine_time(), message, nullptr, fields.begin(), fields.end()});
}

void log(Level level, const Call& call, std::string_view message, Fields fields) {
    if (!logs(level)) return;
    write({level, machine_time(), message, &call, fields.begin(), fields.end()});
}

void start_logging(const LogOptions& options) {
    state() = make_state(options);
    level_in_force.store(options.level);
}

void stop_logging() {
    LogOptions options = state()->options;
    options.asynchronous = false;
    // The queue is written when its thread is joined, before the new state writes anything.
    state().reset();
    state() = make_state(options);
}

std::size_t log_lines_dropped() {
    State& of = *state();
    return of.writer == nullptr ? 0 : of.writer->overrun_counter();
}

}  // namespace tenon::runtime
