#include "redis/reader.hpp"

#include <algorithm>
#include <utility>

#include "base/assert.hpp"

namespace tenon::redis {
namespace {

// A line's own marks ("$", digits, CRLF) around a text, at most.
constexpr std::size_t framing_bytes_max = 64;
constexpr std::size_t items_reserved_max = 64;

Reply::Type type_of(int hiredis_type) {
    switch (hiredis_type) {
        case REDIS_REPLY_STATUS:
            return Reply::Type::status;
        case REDIS_REPLY_ERROR:
            return Reply::Type::error;
        default:
            return Reply::Type::text;
    }
}

}  // namespace

Reader::Reader(ReplyLimits limits) : limits_(limits) {
    reset();
}

void Reader::reset() {
    static redisReplyObjectFunctions functions{.createString = create_text,
                                               .createArray = create_array,
                                               .createInteger = create_integer,
                                               .createNil = create_nil,
                                               .freeObject = drop};
    reader_.reset(redisReaderCreateWithFunctions(&functions));
    TENON_ASSERT(reader_ != nullptr);
    reader_->privdata = this;
    failure_.clear();
    root_ = {};
    bytes_ = 0;
    too_large_ = false;
}

void Reader::feed(std::string_view bytes) {
    if (broken() || bytes.empty()) return;
    if (redisReaderFeed(reader_.get(), bytes.data(), bytes.size()) != REDIS_OK) {
        failure_ = reader_->errstr;
    }
}

std::optional<Reply> Reader::next() {
    if (broken()) return std::nullopt;
    void* whole = nullptr;
    if (redisReaderGetReply(reader_.get(), &whole) != REDIS_OK) {
        failure_ = too_large_ ? "a reply above the limit" : reader_->errstr;
        return std::nullopt;
    }
    if (whole == nullptr) {
        check_bounds();
        return std::nullopt;
    }
    bytes_ = 0;
    return std::exchange(root_, {});
}

// The parser waits for the whole of a text before it calls create_text.
void Reader::check_bounds() {
    if (reader_->len - reader_->pos > limits_.bytes_max + framing_bytes_max) {
        failure_ = "a reply above the limit";
    }
}

// Every reply under construction is the last item of its parent, so growing a parent's items moves
// none that is referred to, and an announced size needs no memory before its items arrive.
Reply* Reader::place(const redisReadTask* task, std::size_t bytes) {
    bytes_ += bytes + sizeof(Reply);
    if (bytes_ > limits_.bytes_max) {
        too_large_ = true;
        return nullptr;
    }
    if (task->parent == nullptr) return &root_;
    return &static_cast<Reply*>(task->parent->obj)->items.emplace_back();
}

void* Reader::create_text(const redisReadTask* task, char* bytes, std::size_t size) {
    Reply* const reply = static_cast<Reader*>(task->privdata)->place(task, size);
    if (reply == nullptr) return nullptr;
    reply->type = type_of(task->type);
    reply->text.assign(bytes, size);
    return reply;
}

void* Reader::create_array(const redisReadTask* task, int size) {
    Reply* const reply = static_cast<Reader*>(task->privdata)->place(task, 0);
    if (reply == nullptr) return nullptr;
    reply->type = Reply::Type::array;
    reply->items.reserve(std::min(static_cast<std::size_t>(std::max(size, 0)), items_reserved_max));
    return reply;
}

void* Reader::create_integer(const redisReadTask* task, long long value) {
    Reply* const reply = static_cast<Reader*>(task->privdata)->place(task, 0);
    if (reply == nullptr) return nullptr;
    reply->type = Reply::Type::integer;
    reply->integer = value;
    return reply;
}

void* Reader::create_nil(const redisReadTask* task) {
    return static_cast<Reader*>(task->privdata)->place(task, 0);
}

// The root is this object's own member.
void Reader::drop(void*) {}

}  // namespace tenon::redis
