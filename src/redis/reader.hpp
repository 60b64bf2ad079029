// Bytes in, replies out: hiredis' parser building Reply, within bounds.
#pragma once

#include <hiredis/read.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "redis/reply.hpp"

namespace tenon::redis {

/// Reads replies out of a stream of bytes, however it is cut.
///
/// Shape:   feed, then next until nullopt. Broken bytes, or a reply above the limits, break it for
///          good; the replies before them are still given.
/// Threads: one at a time.
/// Cost:    one copy of the bytes; memory for what has arrived, not for what is announced.
class Reader {
public:
    explicit Reader(ReplyLimits limits = {});
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;

    void feed(std::string_view bytes);
    /// nullopt: more bytes are needed, or it is broken.
    [[nodiscard]] std::optional<Reply> next();
    [[nodiscard]] bool broken() const { return !failure_.empty(); }
    /// Why it is broken; else empty.
    [[nodiscard]] const std::string& failure() const { return failure_; }
    /// Forgets everything, for a new connection.
    void reset();

private:
    static void* create_text(const redisReadTask* task, char* bytes, std::size_t size);
    static void* create_array(const redisReadTask* task, int size);
    static void* create_integer(const redisReadTask* task, long long value);
    static void* create_nil(const redisReadTask* task);
    static void drop(void* reply);
    [[nodiscard]] Reply* place(const redisReadTask* task, std::size_t bytes);
    void check_bounds();

    struct Free {
        void operator()(redisReader* reader) const { redisReaderFree(reader); }
    };
    ReplyLimits limits_;
    std::string failure_;
    Reply root_;
    std::size_t bytes_ = 0;  ///< of the reply that is being built
    bool too_large_ = false;
    std::unique_ptr<redisReader, Free> reader_;
};

}  // namespace tenon::redis
