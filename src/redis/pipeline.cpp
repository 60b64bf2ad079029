#include "redis/pipeline.hpp"

#include <fmt/format.h>

#include <utility>

namespace tenon::redis {

void append_command(std::string& out, std::span<const std::string> words) {
    constexpr std::string_view line_end = "\r\n";
    const auto append_size = [&out, line_end](char mark, std::size_t size) {
        const fmt::format_int digits(size);
        out.push_back(mark);
        out.append(digits.data(), digits.size());
        out.append(line_end);
    };
    append_size('*', words.size());
    for (const std::string& word : words) {
        append_size('$', word.size());
        out.append(word);
        out.append(line_end);
    }
}

std::uint64_t Pipeline::push(std::span<const std::string> words, Receiver& receiver, Instant now) {
    append_command(output_, words);
    pending_.push_back({.receiver = &receiver, .pushed = now});
    return first_ + pending_.size() - 1;
}

void Pipeline::abandon(std::uint64_t number) {
    if (number >= first_) pending_[number - first_].receiver = nullptr;
}

void Pipeline::take_output(std::string& out) {
    out.clear();
    std::swap(out, output_);
    sent_ = first_ + pending_.size();
}

bool Pipeline::receive(std::string_view bytes) {
    reader_.feed(bytes);
    while (failure_.empty()) {
        auto reply = reader_.next();
        if (!reply) break;
        hand_over(std::move(*reply));
    }
    if (failure_.empty() && reader_.broken()) {
        failure_ = fmt::format("the server broke the protocol: {}", reader_.failure());
    }
    return failure_.empty();
}

void Pipeline::hand_over(Reply reply) {
    if (first_ == sent_) {
        failure_ = reply.type == Reply::Type::error
                       ? fmt::format("the server said: {}", reply.text)
                       : "the server sent a reply that nobody asked for";
        return;
    }
    Receiver* const receiver = pending_.front().receiver;
    pending_.pop_front();
    ++first_;
    if (receiver != nullptr) receiver->receive(std::move(reply));
}

void Pipeline::lose_all(std::string_view why) {
    output_.clear();
    failure_.clear();
    reader_.reset();
    const auto gone = std::exchange(pending_, {});
    const std::uint64_t first = std::exchange(first_, first_ + gone.size());
    const std::uint64_t sent = std::exchange(sent_, first_);
    std::uint64_t number = first;
    for (const Pending& each : gone) {
        if (each.receiver != nullptr) each.receiver->lose({.why = why, .sent = number < sent});
        ++number;
    }
}

std::optional<Pipeline::Instant> Pipeline::oldest() const {
    if (pending_.empty()) return std::nullopt;
    return pending_.front().pushed;
}

}  // namespace tenon::redis
