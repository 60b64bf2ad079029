// An accepted origin is let in, alone, and nothing of a stranger's gets into an answer.
#include <cstdint>
#include <string>
#include <string_view>

#include "base/assert.hpp"
#include "http/cors.hpp"

using namespace tenon;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string text(reinterpret_cast<const char*>(data), size);
    http::Request request;
    request.headers = {{"Origin", text}};
    const std::string known = "https://known.example";
    const http::CorsPolicy policy({known});
    http::Response response;
    TENON_ASSERT(policy.open(request, response) == (text == known));
    if (text != known) TENON_ASSERT(response.headers().find("Allow-Origin") == std::string::npos);

    if (http::check_origin(text)) return 0;
    TENON_ASSERT(text.find_first_of("\r\n @\\") == std::string::npos);
    const http::CorsPolicy own({text});
    TENON_ASSERT(own.allows(text));
    TENON_ASSERT(text == "*" || !own.allows(text + "x"));
    return 0;
}
