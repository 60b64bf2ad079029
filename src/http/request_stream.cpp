#include "http/request_stream.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/assert.hpp"
#include "http/errors.hpp"

namespace tenon::http {

namespace {

// Less room than this is not worth a system call.
constexpr std::size_t receive_min = 2048;
const Refusal too_many_bodies{.type = &errors::bodies_exhausted,
                              .detail =
                                  "Repeat the request after the time in Retry-After; "
                                  "http.bodies_bytes_max bounds what is held at once.",
                              .repeat_after = std::chrono::seconds(1)};

}  // namespace

RequestStream::Phase RequestStream::phase() const {
    if (part_ == Part::sized_body || part_ == Part::chunked_body) return Phase::body;
    return part_ == Part::head && begin_ == end_ ? Phase::between : Phase::head;
}

std::span<char> RequestStream::prepare() {
    TENON_ASSERT(part_ != Part::complete);
    if (buffer_.size == 0) {
        buffer_ = pool_.take();
        begin_ = end_ = 0;
    }
    // Heads always fit a buffer of the pool, and await_body() has seen to the rest.
    if (room() < receive_min) {
        const bool made = make_room();
        TENON_ASSERT(made);
    }
    return {at(end_), room()};
}

// Moves the present request to the front, into a larger buffer if it must be; false when the budget
// has none.
bool RequestStream::make_room() {
    const std::size_t held = end_ - begin_;
    if (buffer_.size - held < receive_min) return grow();
    head_.rebase({at(begin_), held}, at(0));
    std::memmove(at(0), at(begin_), held);
    begin_ = 0;
    end_ = held;
    return true;
}

// Sizes double, so a client gets memory for what it sent, not for what it announced.
bool RequestStream::grow() {
    const std::size_t held = end_ - begin_;
    const std::size_t most = pool_.size() + limits_.body_bytes_max;
    const std::size_t size = std::max(std::min(buffer_.size * 2, most), held + receive_min);
    // Both exist while the bytes move; what is held afterwards is what counts.
    if (!budget_.take(size - taken_)) return false;
    Buffer larger{std::make_unique_for_overwrite<char[]>(size), size};
    head_.rebase({at(begin_), held}, larger.bytes.get());
    std::memcpy(larger.bytes.get(), at(begin_), held);
    pool_.give_back(std::exchange(buffer_, std::move(larger)));
    taken_ = size;
    begin_ = 0;
    end_ = held;
    return true;
}

RequestStream::Event RequestStream::next() {
    switch (part_) {
        case Part::refused:
            return Event::refused;
        case Part::complete:
            return Event::request;
        case Part::sized_body:
            return read_sized_body();
        case Part::chunked_body:
            return read_chunked_body();
        case Part::head:
            break;
    }
    skip_empty_lines();
    if (begin_ == end_) {
        release();
        return Event::need_more;
    }
    const std::string_view bytes(at(begin_), end_ - begin_);
    const HeadScanner::Result found = scanner_.scan(bytes, limits_);
    if (found.refusal) return refuse(*found.refusal);
    if (found.head_bytes == 0) return Event::need_more;
    head_bytes_ = found.head_bytes;
    if (const auto refusal = read_head(bytes.substr(0, head_bytes_), limits_, head_)) {
        return refuse(*refusal);
    }
    return begin_body();
}

// RFC 9112 section 2.2: empty lines before a request line are skipped.
void RequestStream::skip_empty_lines() {
    while (end_ - begin_ >= 2 && *at(begin_) == '\r' && *at(begin_ + 1) == '\n') {
        begin_ += 2;
        // It may have looked at the CR already, when that was all there was.
        scanner_.reset();
    }
}

RequestStream::Event RequestStream::begin_body() {
    if (head_.chunked) {
        part_ = Part::chunked_body;
        return read_chunked_body();
    }
    if (head_.content_length > limits_.body_bytes_max) {
        return refuse({.type = &errors::body_too_large,
                       .detail = "Send a smaller body",
                       .limit = limits_.body_bytes_max,
                       .unit = "bytes"});
    }
    const auto length = static_cast<std::size_t>(head_.content_length);
    const bool outgrows = head_bytes_ + length + receive_min > pool_.size();
    // What an earlier body of this connection took serves this one, too.
    const std::size_t more = length > taken_ ? length - taken_ : 0;
    if (outgrows && !budget_.has_room_for(more)) return refuse(too_many_bodies);
    part_ = Part::sized_body;
    return read_sized_body();
}

RequestStream::Event RequestStream::read_sized_body() {
    const auto length = static_cast<std::size_t>(head_.content_length);
    if (end_ - begin_ - head_bytes_ < length) return await_body();
    head_.request.body = {at(begin_ + head_bytes_), length};
    message_end_ = begin_ + head_bytes_ + length;
    return complete();
}

RequestStream::Event RequestStream::read_chunked_body() {
    const std::size_t body = begin_ + head_bytes_;
    const ChunkDecoder::Progress progress =
        chunks_.decode(at(body), end_ - body, limits_.body_bytes_max);
    if (progress.refusal) return refuse(*progress.refusal);
    if (progress.complete) {
        head_.request.body = {at(body), progress.decoded};
        message_end_ = body + progress.encoded_begin;
        return complete();
    }
    const std::size_t left = end_ - body - progress.encoded_begin;
    std::memmove(at(body + progress.decoded), at(body + progress.encoded_begin), left);
    end_ = body + progress.decoded + left;
    return await_body();
}

RequestStream::Event RequestStream::await_body() {
    if (room() < receive_min && !make_room()) return refuse(too_many_bodies);
    const bool began = end_ - begin_ > head_bytes_;
    if (!head_.expect_continue || continue_sent_ || began) return Event::need_more;
    continue_sent_ = true;
    return Event::send_continue;
}

RequestStream::Event RequestStream::complete() {
    part_ = Part::complete;
    return Event::request;
}

RequestStream::Event RequestStream::refuse(const Refusal& refusal) {
    part_ = Part::refused;
    refusal_ = refusal;
    return Event::refused;
}

void RequestStream::consume() {
    TENON_ASSERT(part_ == Part::complete);
    begin_ = message_end_;
    part_ = Part::head;
    continue_sent_ = false;
    scanner_.reset();
    chunks_.reset();
    if (begin_ == end_) release();
}

void RequestStream::release() {
    if (buffer_.size == 0) return;
    pool_.give_back(std::exchange(buffer_, Buffer{}));
    budget_.give_back(std::exchange(taken_, 0));
    begin_ = end_ = 0;
}

}  // namespace tenon::http
