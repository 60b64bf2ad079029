// Who asked, with 0, 1 and 2 proxies in between, and with liars in front of them.
#include "http/forwarded.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "http/errors.hpp"

namespace tenon::http {

namespace {

using Lines = std::vector<std::pair<std::string, std::string>>;

IpAddress address(std::string_view text) {
    const auto parsed = parse_address(text);
    EXPECT_TRUE(parsed.has_value()) << text;
    return parsed.value_or(IpAddress{});
}

Networks networks(const std::vector<std::string>& texts) {
    auto parsed = Networks::parse(texts);
    EXPECT_TRUE(parsed.has_value());
    return parsed ? *parsed : Networks{};
}

const Networks& proxies() {
    static const Networks all = networks({"10.0.0.0/8", "fd00::/8"});
    return all;
}

// The client as text, with "s" or "p" where somebody told the scheme.
std::string origin_of(const Lines& lines, std::string_view peer = "10.0.0.1") {
    Request request;
    for (const auto& [name, value] : lines) request.headers.push_back({name, value});
    const Origin origin = find_origin(request, address(peer), proxies());
    std::string text(AddressText(origin.address).view());
    if (origin.secure) text.append(*origin.secure ? " s" : " p");
    return text;
}

std::string forwarded_for(const std::string& value) {
    return origin_of({{"X-Forwarded-For", value}});
}

std::string forwarded(const std::string& value) {
    return origin_of({{"Forwarded", value}});
}

TEST(Forwarded, TakesTheHopThatOneProxyTells) {
    EXPECT_EQ(forwarded_for("203.0.113.9"), "203.0.113.9");
    EXPECT_EQ(forwarded_for("2001:DB8:0::9"), "2001:db8::9");
    EXPECT_EQ(origin_of({{"x-forwarded-for", " 203.0.113.9\t"}}, "fd00::1"), "203.0.113.9");
    EXPECT_EQ(forwarded("for=203.0.113.9;proto=https;by=10.0.0.1"), "203.0.113.9 s");
    EXPECT_EQ(forwarded(R"(For="[2001:db8::9]:4711" ; Proto=HTTP)"), "2001:db8::9 p");
}

TEST(Forwarded, GoesOnThroughASecondProxy) {
    EXPECT_EQ(forwarded_for("203.0.113.9, 10.0.0.2"), "203.0.113.9");
    EXPECT_EQ(origin_of({{"X-Forwarded-For", "203.0.113.9"}, {"X-Forwarded-For", "fd00::2"}}),
              "203.0.113.9");
    EXPECT_EQ(forwarded("for=203.0.113.9;proto=https, for=10.0.0.2;proto=http"), "203.0.113.9 s");
    EXPECT_EQ(origin_of({{"Forwarded", "for=203.0.113.9"}, {"Forwarded", "for=10.0.0.2"}}),
              "203.0.113.9");
}

TEST(Forwarded, DoesNotBelieveWhatStandsBehindTheFirstStranger) {
    EXPECT_EQ(forwarded_for("127.0.0.1, 198.51.100.1, 203.0.113.9"), "203.0.113.9");
    EXPECT_EQ(forwarded_for("10.0.0.9, 203.0.113.9, 10.0.0.2"), "203.0.113.9");
    EXPECT_EQ(forwarded("for=10.0.0.9;proto=https, for=203.0.113.9;proto=http"), "203.0.113.9 p");
    EXPECT_EQ(forwarded(R"(for="10.0.0.9, for=203.0.113.9)"), "203.0.113.9");
    EXPECT_EQ(forwarded(R"(for=10.0.0.9;x="\", for=203.0.113.9;proto=https)"), "203.0.113.9 s");
    EXPECT_EQ(forwarded_for("\"10.0.0.9, 203.0.113.9"), "203.0.113.9");
}

TEST(Forwarded, IsTheProxyWhenNothingCanBeRead) {
    for (const char* bad : {"",
                            " ",
                            ",",
                            "unknown",
                            "203.0.113",
                            "203.0.113.9.1",
                            "0203.0.113.9",
                            "203.0.113.9:",
                            "203.0.113.9:x",
                            "203.0.113.9:123456",
                            "203.0.113.9 x",
                            "[2001:db8::9",
                            "2001:db8::9]",
                            "[203.0.113.9]",
                            "[2001:db8::9]x",
                            "[2001:db8::9]:",
                            "fe80::1%eth0",
                            "::g",
                            "for=1.2.3.4",
                            "198.51.100.1, ?",
                            "\xff\xfe",
                            "999.1.1.1"}) {
        EXPECT_EQ(forwarded_for(bad), "10.0.0.1") << bad;
    }
    for (const char* bad : {"", ";", "for", "for=", "for=unknown", "for=_hidden", "for=2001:db8::9",
                            "for=\"", "\"", "for=1.2.3.4;for=1.2.3.4", "for = 1.2.3.4",
                            "by=1.2.3.4", "for=\"1.2.3.\\4\"", "for=198.51.100.1, for=_x"}) {
        EXPECT_EQ(forwarded(bad), "10.0.0.1") << bad;
    }
    EXPECT_EQ(forwarded_for("nonsense, 10.0.0.2"), "10.0.0.2");
    EXPECT_EQ(origin_of({}), "10.0.0.1");
}

TEST(Forwarded, TakesPortsOffAddresses) {
    EXPECT_EQ(forwarded_for("203.0.113.9:4711"), "203.0.113.9");
    EXPECT_EQ(forwarded_for("[2001:db8::9]:4711"), "2001:db8::9");
    EXPECT_EQ(forwarded_for("[2001:db8::9]"), "2001:db8::9");
    EXPECT_EQ(forwarded_for(",203.0.113.9,,"), "203.0.113.9");
}

TEST(Forwarded, KnowsAnAddressInEitherSpelling) {
    EXPECT_EQ(forwarded_for("203.0.113.9, ::ffff:10.0.0.2"), "203.0.113.9");
    EXPECT_EQ(forwarded_for("::ffff:203.0.113.9"), "203.0.113.9");
}

TEST(Forwarded, IsTheLeftMostWhenAllAreTrusted) {
    EXPECT_EQ(forwarded_for("10.0.0.3, 10.0.0.2"), "10.0.0.3");
}

TEST(Forwarded, PrefersTheHeaderThatProxiesWrite) {
    EXPECT_EQ(origin_of({{"Forwarded", "for=198.51.100.1;proto=https"},
                         {"X-Forwarded-For", "203.0.113.9"}}),
              "203.0.113.9");
}

TEST(Forwarded, FindsTheSchemeThatTheClientUsed) {
    const auto scheme = [](const std::string& hops, const std::string& schemes) {
        return origin_of({{"X-Forwarded-For", hops}, {"X-Forwarded-Proto", schemes}});
    };
    EXPECT_EQ(scheme("203.0.113.9", "https"), "203.0.113.9 s");
    EXPECT_EQ(scheme("203.0.113.9", "HTTP"), "203.0.113.9 p");
    EXPECT_EQ(scheme("203.0.113.9", "spoofed, http"), "203.0.113.9 p");
    EXPECT_EQ(scheme("203.0.113.9", "https, http"), "203.0.113.9 p");
    EXPECT_EQ(scheme("203.0.113.9, 10.0.0.2", "https"), "203.0.113.9 s");
    EXPECT_EQ(scheme("203.0.113.9, 10.0.0.2", "http, https, http"), "203.0.113.9 s");
    EXPECT_EQ(scheme("203.0.113.9", "gopher"), "203.0.113.9");
    EXPECT_EQ(scheme("203.0.113.9", ""), "203.0.113.9");
    EXPECT_EQ(origin_of({{"X-Forwarded-Proto", "https"}}), "10.0.0.1 s");
    EXPECT_EQ(origin_of({{"Forwarded", "for=203.0.113.9"}, {"X-Forwarded-Proto", "https"}}),
              "203.0.113.9 s");
}

// Whatever a client sends ahead of what the proxies append.
RC_GTEST_PROP(Forwarded, IsDeafToWhatTheClientWrote, ()) {
    const auto junk =
        *rc::gen::container<std::string>(rc::gen::elementOf(std::string("\",;=\\ []:.%10fo_r\t")));
    const bool second = *rc::gen::arbitrary<bool>();
    const std::string hops = second ? ", 203.0.113.9, 10.0.0.2" : ", 203.0.113.9";
    RC_ASSERT(forwarded_for(junk + hops) == "203.0.113.9");
    const std::string elements = second ? ", for=203.0.113.9;proto=https, for=10.0.0.2"
                                        : R"(,for="203.0.113.9";proto=https)";
    RC_ASSERT(forwarded(junk + elements) == "203.0.113.9 s");
}

TEST(Networks, HoldTheAddressesThatShareTheirPrefix) {
    const Networks some = networks({"192.0.2.128/25", "2001:db8:8000::/33", "198.51.100.7", "::1"});
    for (const char* inside : {"192.0.2.128", "192.0.2.255", "::ffff:192.0.2.200",
                               "2001:db8:8000::1", "2001:db8:ffff:ffff::", "198.51.100.7", "::1"}) {
        EXPECT_TRUE(some.contains(address(inside))) << inside;
    }
    for (const char* outside : {"192.0.2.127", "192.0.3.128", "2001:db8:7fff::", "2001:db9::",
                                "198.51.100.6", "::2", "127.0.0.1", "0.0.0.1"}) {
        EXPECT_FALSE(some.contains(address(outside))) << outside;
    }
    EXPECT_TRUE(networks({"0.0.0.0/0"}).contains(address("8.8.8.8")));
    EXPECT_FALSE(networks({"0.0.0.0/0"}).contains(address("2001:db8::1")));
    EXPECT_TRUE(networks({"::/0"}).contains(address("2001:db8::1")));
    EXPECT_FALSE(networks({"::/0"}).contains(address("8.8.8.8")));
    EXPECT_FALSE(Networks{}.contains(address("8.8.8.8")));
}

TEST(Networks, AreRefusedWithWhatToWrite) {
    const auto refusal = [](const std::string& text) {
        const auto parsed = Networks::parse({"10.0.0.0/8", text});
        EXPECT_FALSE(parsed.has_value()) << text;
        return parsed ? std::string() : parsed.error().detail();
    };
    EXPECT_EQ(refusal("10.1.2.3/8"), "10.1.2.3/8 has bits behind its prefix: write 10.0.0.0/8");
    EXPECT_EQ(refusal("2001:db8::1/32"),
              "2001:db8::1/32 has bits behind its prefix: write 2001:db8::/32");
    for (const char* bad :
         {"", "/", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/8x", "::/129", "localhost",
          "10.0.0", "10.0.0.0/255.0.0.0", "[::1]", " ::1", "fe80::1%lo", "10.0.0.0/99999999999"}) {
        EXPECT_NE(refusal(bad).find(" is no network: "), std::string::npos) << bad;
    }
}

}  // namespace

}  // namespace tenon::http
