#include "http/chunks.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "http/errors.hpp"
#include "http/text.hpp"

namespace tenon::http {

namespace {

constexpr Refusal bad_chunk{&errors::malformed, "Send chunks as RFC 9112 section 7.1 writes them."};
constexpr std::size_t size_digits_max = 8;

int digit_of(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    c = lower(c);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool is_plain(char c) {
    return c == '\t' || (static_cast<unsigned char>(c) >= ' ' && c != 0x7F);
}

}  // namespace

ChunkDecoder::Step ChunkDecoder::refuse(Refusal refusal) {
    refusal_ = refusal;
    return Step::refused;
}

// Finds the line at at_; lines are judged whole, so their slices do not matter.
ChunkDecoder::Step ChunkDecoder::read_line(const char* bytes, std::size_t size) {
    const std::string_view window(bytes + at_, std::min(size - at_, line_bytes_max));
    const std::size_t feed = window.find('\n');
    if (feed == std::string_view::npos) {
        return window.size() == line_bytes_max ? refuse(bad_chunk) : Step::need_more;
    }
    if (feed == 0 || window[feed - 1] != '\r') return refuse(bad_chunk);
    if (!std::ranges::all_of(window.substr(0, feed - 1), is_plain)) return refuse(bad_chunk);
    line_bytes_ = feed + 1;
    return Step::again;
}

ChunkDecoder::Step ChunkDecoder::take_size(const char* line, std::size_t length,
                                           std::size_t body_bytes_max) {
    std::size_t digits = 0;
    std::uint64_t value = 0;
    for (; digits < length && digit_of(line[digits]) >= 0; ++digits) {
        if (digits == size_digits_max) return refuse(bad_chunk);
        value = value * 16 + static_cast<std::uint64_t>(digit_of(line[digits]));
    }
    if (digits == 0) return refuse(bad_chunk);
    const std::string_view rest(line + digits, length - digits);
    const std::size_t mark = rest.find_first_not_of(" \t");
    if (!rest.empty() && (mark == std::string_view::npos || rest[mark] != ';')) {
        return refuse(bad_chunk);
    }
    if (value > body_bytes_max - decoded_) {
        return refuse({.type = &errors::body_too_large,
                       .detail = "Send a smaller body",
                       .limit = body_bytes_max,
                       .unit = "bytes"});
    }
    left_ = static_cast<std::size_t>(value);
    phase_ = value == 0 ? Phase::trailer : Phase::data;
    return Step::again;
}

ChunkDecoder::Step ChunkDecoder::take_data(char* bytes, std::size_t size) {
    const std::size_t count = std::min(left_, size - at_);
    std::memmove(bytes + decoded_, bytes + at_, count);
    decoded_ += count;
    at_ += count;
    left_ -= count;
    if (left_ > 0) return Step::need_more;
    phase_ = Phase::data_end;
    return Step::again;
}

ChunkDecoder::Progress ChunkDecoder::decode(char* bytes, std::size_t size,
                                            std::size_t body_bytes_max) {
    at_ = decoded_;
    Step step = Step::again;
    while (step == Step::again && phase_ != Phase::complete) {
        if (phase_ == Phase::data) {
            step = take_data(bytes, size);
            continue;
        }
        step = read_line(bytes, size);
        if (step != Step::again) break;
        const std::size_t length = line_bytes_ - 2;
        if (phase_ == Phase::size) {
            step = take_size(bytes + at_, length, body_bytes_max);
        } else if (phase_ == Phase::data_end) {
            phase_ = Phase::size;
            if (length != 0) step = refuse(bad_chunk);
        } else {
            trailer_bytes_ += line_bytes_;
            if (trailer_bytes_ > line_bytes_max) step = refuse(bad_chunk);
            if (length == 0) phase_ = Phase::complete;
        }
        at_ += line_bytes_;
    }
    Progress progress{decoded_, at_, phase_ == Phase::complete, std::nullopt};
    if (step == Step::refused) progress.refusal = refusal_;
    return progress;
}

}  // namespace tenon::http
