// Accept-Encoding means the same in one line and in several, and with its letters in either case.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/assert.hpp"
#include "http/compress.hpp"

using tenon::http::Request;

// The first byte says where the list is cut in two.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
    Request whole;
    whole.headers = {{"Accept-Encoding", text}};
    const bool takes = tenon::http::accepts_gzip(whole);

    std::string upper(text);
    for (char& c : upper) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
    Request loud;
    loud.headers = {{"accept-encoding", upper}};
    TENON_ASSERT(tenon::http::accepts_gzip(loud) == takes);

    const std::size_t comma = text.find(',', std::min<std::size_t>(data[0], text.size()));
    if (comma == std::string_view::npos) return 0;
    Request cut;
    cut.headers = {{"Accept-Encoding", text.substr(0, comma)},
                   {"Accept-Encoding", text.substr(comma + 1)}};
    TENON_ASSERT(tenon::http::accepts_gzip(cut) == takes);
    return 0;
}
