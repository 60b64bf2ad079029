// Arbitrary bytes in arbitrary slices: the same replies as in one piece, within the bounds.
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/assert.hpp"
#include "redis/reader.hpp"

namespace {

using tenon::redis::Reader;
using tenon::redis::Reply;

constexpr std::size_t bytes_max = 4096;
constexpr int depth_max = 9;

std::size_t measure(const Reply& reply, int depth) {
    TENON_ASSERT(depth <= depth_max);
    std::size_t bytes = sizeof(Reply) + reply.text.size();
    for (const Reply& item : reply.items) bytes += measure(item, depth + 1);
    return bytes;
}

void read_into(std::vector<Reply>& replies, Reader& reader, std::string_view bytes) {
    reader.feed(bytes);
    while (auto reply = reader.next()) {
        TENON_ASSERT(measure(*reply, 1) <= bytes_max);
        replies.push_back(std::move(*reply));
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 2) return 0;
    // The first byte says how the rest is cut: pieces of pseudo-random sizes from that seed.
    std::uint32_t seed = data[0] + 1u;
    const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);

    std::vector<Reply> whole;
    Reader at_once({.bytes_max = bytes_max});
    read_into(whole, at_once, bytes);

    std::vector<Reply> cut;
    Reader in_pieces({.bytes_max = bytes_max});
    for (std::size_t offset = 0; offset < bytes.size();) {
        seed = seed * 1'664'525u + 1'013'904'223u;
        const std::size_t piece = 1 + (seed >> 16) % 16;
        read_into(cut, in_pieces, bytes.substr(offset, piece));
        offset += piece;
    }
    TENON_ASSERT(whole == cut);
    TENON_ASSERT(at_once.broken() == in_pieces.broken());
    return 0;
}
