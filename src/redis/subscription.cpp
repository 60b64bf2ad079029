#include "redis/subscription.hpp"

#include <utility>

namespace tenon::redis {

Notice read_notice(Reply reply) {
    auto& items = reply.items;
    if (reply.type == Reply::Type::status && reply.text == "PONG")
        return {Notice::Kind::pong, {}, {}};
    if (reply.type != Reply::Type::array || items.empty()) return {};
    const std::string& word = items[0].text;
    if (word == "pong") return {Notice::Kind::pong, {}, {}};
    if (items.size() != 3) return {};
    if (word == "subscribe") return {Notice::Kind::confirmed, std::move(items[1].text), {}};
    if (word != "message") return {};
    return {Notice::Kind::message, std::move(items[1].text), std::move(items[2].text)};
}

}  // namespace tenon::redis
