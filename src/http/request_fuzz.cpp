// Arbitrary bytes in arbitrary slices: the same requests and the same refusal as in one piece.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>

#include "base/assert.hpp"
#include "http/request_stream.hpp"

namespace {

using tenon::http::RequestStream;

// What was seen, as one text.
std::string feed(std::string_view bytes, std::string_view slices) {
    tenon::http::Limits limits;
    limits.header_bytes_max = 512;
    limits.target_bytes_max = 128;
    limits.headers_max = 8;
    limits.body_bytes_max = 1024;
    tenon::http::BufferPool pool(1024);
    tenon::http::BodyBudget budget(1 << 30);
    RequestStream stream(limits, pool, budget);
    std::string seen;
    std::size_t turn = 0;
    while (!bytes.empty()) {
        const auto room = stream.prepare();
        const std::size_t wanted =
            slices.empty() ? bytes.size()
                           : static_cast<unsigned char>(slices[turn++ % slices.size()]) % 64 + 1u;
        const std::size_t count = std::min({room.size(), wanted, bytes.size()});
        std::memcpy(room.data(), bytes.data(), count);
        stream.commit(count);
        bytes.remove_prefix(count);
        for (;;) {
            const RequestStream::Event event = stream.next();
            if (event == RequestStream::Event::need_more) break;
            if (event == RequestStream::Event::send_continue) continue;
            if (event == RequestStream::Event::refused) {
                return seen.append("refused ").append(stream.refusal().type->slug);
            }
            const auto& request = stream.head().request;
            seen.append(request.target).append("\n").append(request.path).append("\n");
            seen.append(request.query).append("\n").append(request.body).append("\n");
            for (const auto& one : request.headers) {
                seen.append(one.name).append("=").append(one.value).append("\n");
            }
            stream.consume();
        }
    }
    return seen;
}

}  // namespace

// The first byte says how many of the following tell the slices; the rest is what a client sends.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const std::string_view all(reinterpret_cast<const char*>(data), size);
    const std::size_t slices =
        std::min<std::size_t>(static_cast<unsigned char>(all[0]) % 16 + 1u, size - 1);
    const std::string_view bytes = all.substr(1 + slices);
    TENON_ASSERT(feed(bytes, all.substr(1, slices)) == feed(bytes, {}));
    return 0;
}
