// Arbitrary headers ahead of what a trusted proxy appends: the client is the one that it names.
#include <cstdint>
#include <string>

#include "base/assert.hpp"
#include "http/forwarded.hpp"

namespace {

using tenon::http::IpAddress;
using tenon::http::Networks;
using tenon::http::Origin;
using tenon::http::Request;

const IpAddress peer = *tenon::http::parse_address("10.0.0.1");
const IpAddress client = *tenon::http::parse_address("2001:db8::9");

Origin ask(std::string_view name, std::string_view value, const Networks& trusted) {
    Request request;
    request.headers.push_back({name, value});
    request.headers.push_back({"X-Forwarded-Proto", value});
    return find_origin(request, peer, trusted);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const Networks trusted = *Networks::parse({"10.0.0.0/8", "fd00::/8"});
    const std::string given(reinterpret_cast<const char*>(data), size);
    for (const char* name : {"X-Forwarded-For", "Forwarded"}) {
        const Origin origin = ask(name, given, trusted);
        const std::string text(tenon::http::AddressText(origin.address).view());
        TENON_ASSERT(tenon::http::parse_address(text) == origin.address);
    }
    TENON_ASSERT(ask("X-Forwarded-For", given + ", 2001:db8::9", trusted).address == client);
    TENON_ASSERT(ask("X-Forwarded-For", given + ",2001:db8::9, 10.0.0.2", trusted).address ==
                 client);
    const Origin one = ask("Forwarded", given + ", for=\"[2001:db8::9]\";proto=https", trusted);
    TENON_ASSERT(one.address == client && one.secure == true);
    const Origin two =
        ask("Forwarded", given + ",for=\"[2001:db8::9]:1\";proto=http,for=10.9.9.9", trusted);
    TENON_ASSERT(two.address == client && two.secure == false);
    // What no header says, a text that is a network may.
    static_cast<void>(Networks::parse({given}));
    return 0;
}
