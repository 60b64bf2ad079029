#include "http/trace.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <span>

#include "base/hash.hpp"
#include "http/problem.hpp"
#include "http/text.hpp"

namespace tenon::http {

namespace {

constexpr std::string_view request_id_header = "Tenon-Request-Id";
constexpr std::size_t tracestate_bytes_max = 512;
constexpr std::size_t tracestate_members_max = 32;
constexpr std::size_t tracestate_value_max = 256;

// Lower-case hexadecimal only, as the specification has it; false also for all zeros.
bool read_hex(std::string_view text, std::span<std::uint8_t> out) {
    bool some = false;
    for (std::size_t i = 0; i < out.size(); ++i) {
        const std::string_view pair = text.substr(i * 2, 2);
        if (pair.find_first_not_of("0123456789abcdef") != std::string_view::npos) return false;
        std::from_chars(pair.data(), pair.data() + 2, out[i], 16);
        some = some || out[i] != 0;
    }
    return some;
}

bool is_state_key(std::string_view key) {
    const auto is_first = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
    return !key.empty() && key.size() <= tracestate_value_max && is_first(key.front()) &&
           std::ranges::all_of(
               key, [&](char c) { return is_first(c) || std::string_view("_-*/@").contains(c); });
}

bool is_state_value(std::string_view value) {
    return !value.empty() && value.size() <= tracestate_value_max && value.back() != ' ' &&
           std::ranges::all_of(value, [](char c) { return c >= ' ' && c <= '~' && c != '='; });
}

bool is_member(std::string_view text) {
    const auto equals = text.find('=');
    return equals != std::string_view::npos && is_state_key(text.substr(0, equals)) &&
           is_state_value(text.substr(equals + 1));
}

// Appends the members of one header line; false when one is malformed.
bool append_members(std::string_view line, std::string& state, std::size_t& members) {
    while (!line.empty()) {
        const std::size_t comma = std::min(line.find(','), line.size());
        const std::string_view one = trim(line.substr(0, comma));
        line.remove_prefix(std::min(comma + 1, line.size()));
        if (one.empty()) continue;
        if (!is_member(one)) return false;
        if (!state.empty()) state.push_back(',');
        state.append(one);
        ++members;
    }
    return true;
}

}  // namespace

bool read_traceparent(std::string_view text, runtime::Trace& trace) {
    constexpr std::size_t length = 55;
    if (text.size() < length || text[2] != '-' || text[35] != '-' || text[52] != '-') return false;
    const std::string_view version = text.substr(0, 2);
    if (version == "ff" || (version == "00" && text.size() != length)) return false;
    if (version.find_first_not_of("0123456789abcdef") != std::string_view::npos) return false;
    if (text.size() > length && text[length] != '-') return false;
    runtime::Trace read = trace;
    std::array<std::uint8_t, 1> flags{};
    const bool flagged = text.substr(53, 2) == "00" || read_hex(text.substr(53, 2), flags);
    if (!read_hex(text.substr(3, 32), read.trace_id) ||
        !read_hex(text.substr(36, 16), read.parent_id)) {
        return false;
    }
    if (!flagged) return false;
    read.sampled = (flags[0] & 1u) != 0;
    trace = read;
    return true;
}

bool read_request_id(std::string_view text, runtime::Trace& trace) {
    constexpr std::array<std::size_t, 4> hyphens{8, 13, 18, 23};
    std::array<char, 32> digits{};
    std::size_t count = 0;
    const bool uuid = text.size() == 36;
    if (!uuid && text.size() != 32) return false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (uuid && std::ranges::find(hyphens, i) != hyphens.end()) {
            if (text[i] != '-') return false;
        } else {
            digits[count++] = lower(text[i]);
        }
    }
    runtime::Trace read = trace;
    if (!read_hex({digits.data(), digits.size()}, read.trace_id)) return false;
    trace = read;
    return true;
}

std::string format_traceparent(const runtime::Trace& trace) {
    return std::string("00-")
        .append(format_trace_id(trace))
        .append("-")
        .append(base::to_hex(trace.span_id))
        .append(trace.sampled ? "-01" : "-00");
}

std::string read_tracestate(const Request& request) {
    std::string state;
    std::size_t members = 0;
    for (const Header& one : request.headers) {
        if (!equal_without_case(one.name, "tracestate")) continue;
        if (!append_members(one.value, state, members)) return {};
    }
    if (state.size() > tracestate_bytes_max || members > tracestate_members_max) return {};
    return state;
}

bool join_trace(const Request& request, runtime::Trace& trace) {
    // A malformed one is as good as none (W3C Trace Context, section 3.2).
    const auto parent = request.header("traceparent");
    if (parent && read_traceparent(*parent, trace)) {
        trace.state = read_tracestate(request);
        return true;
    }
    if (!request.from_proxy) return false;
    for (const std::string_view name : {request_id_header, std::string_view("X-Request-Id")}) {
        const auto id = request.header(name);
        if (id && read_request_id(*id, trace)) break;
    }
    return false;
}

void tell_trace(const runtime::Trace& trace, Response& response) {
    response.add_header(request_id_header, format_trace_id(trace));
    response.add_header("traceparent", format_traceparent(trace));
    if (!trace.state.empty()) response.add_header("tracestate", trace.state);
}

}  // namespace tenon::http
