// Bytes of a connection in, requests out: the protocol without its I/O.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "http/body_budget.hpp"
#include "http/buffer_pool.hpp"
#include "http/chunks.hpp"
#include "http/head.hpp"

namespace tenon::http {

/// Cuts what a client sends into requests.
///
/// Shape:   prepare, commit, next until need_more; after `request`, consume, then next again. The
///          same bytes in other slices give the same requests and the same refusal, as long as
///          the budget has room.
/// Owns:    at most one buffer, from the pool while something is held: a head and, as it arrives,
///          its body, both within the limits. A buffer larger than the pool's is taken from the
///          budget.
/// Threads: one core's.
/// Cost:    no allocation for requests that fit the pool's buffers.
class RequestStream {
public:
    enum class Event : std::uint8_t {
        need_more,
        request,        ///< head() is complete and views the body
        send_continue,  ///< the client waits for 100 before it sends the body; said once
        refused,        ///< for good; see refusal()
    };
    /// Which part of a request is awaited.
    enum class Phase : std::uint8_t { between, head, body };

    /// Expects: the pool's buffers hold limits.header_bytes_max and 4 KiB more, and all three
    ///          outlive this.
    RequestStream(const Limits& limits, BufferPool& pool, BodyBudget& budget)
        : limits_(limits), pool_(pool), budget_(budget) {}
    ~RequestStream() { release(); }
    RequestStream(const RequestStream&) = delete;
    RequestStream& operator=(const RequestStream&) = delete;

    /// Memory to receive into, never empty. Not between `request` and consume.
    [[nodiscard]] std::span<char> prepare();
    void commit(std::size_t received) { end_ += received; }
    [[nodiscard]] Event next();
    [[nodiscard]] Head& head() { return head_; }
    [[nodiscard]] const Refusal& refusal() const { return refusal_; }
    [[nodiscard]] Phase phase() const;
    /// Forgets the present request; its views end.
    void consume();
    /// Gives the memory back; what was not consumed is lost.
    void release();

private:
    enum class Part : std::uint8_t { head, sized_body, chunked_body, complete, refused };

    Event refuse(const Refusal& refusal);
    Event begin_body();
    Event read_sized_body();
    Event read_chunked_body();
    Event await_body();
    Event complete();
    void skip_empty_lines();
    [[nodiscard]] bool make_room();
    [[nodiscard]] bool grow();
    [[nodiscard]] std::size_t room() const { return buffer_.size - end_; }
    [[nodiscard]] char* at(std::size_t position) { return buffer_.bytes.get() + position; }

    const Limits& limits_;
    BufferPool& pool_;
    BodyBudget& budget_;
    Buffer buffer_;
    std::size_t taken_ = 0;  // of the budget
    std::size_t begin_ = 0;  // of the present request
    std::size_t end_ = 0;    // of what was received
    std::size_t head_bytes_ = 0;
    std::size_t message_end_ = 0;  // of the present request, once complete
    Part part_ = Part::head;
    bool continue_sent_ = false;
    HeadScanner scanner_;
    ChunkDecoder chunks_;
    Head head_;
    Refusal refusal_;
};

}  // namespace tenon::http
