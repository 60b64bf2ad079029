#include "services/links/target.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "services/links/errors.hpp"

namespace tenon::links {
namespace {

struct Example {
    std::string_view given;
    std::string_view kept;
};

void expect_kept(std::initializer_list<Example> examples) {
    for (const auto& [given, kept] : examples) {
        const auto target = parse_target(given);
        ASSERT_TRUE(target) << given << ": " << target.error().detail();
        EXPECT_EQ(*target, kept) << given;
        EXPECT_EQ(parse_target(*target).value(), kept);
    }
}

void expect_refused(std::string_view rule, std::initializer_list<std::string_view> urls) {
    for (const std::string_view url : urls) {
        const auto target = parse_target(url);
        ASSERT_FALSE(target) << url << " became " << *target;
        EXPECT_TRUE(target.error().is(errors::invalid_target));
        EXPECT_NE(target.error().detail().find(rule), std::string::npos)
            << url << ": " << target.error().detail();
        ASSERT_EQ(target.error().fields().size(), 1u);
        EXPECT_EQ(target.error().fields()[0].pointer, "/url");
    }
}

TEST(Target, SchemesAndSlashes) {
    expect_kept({
        {"https://example.com", "https://example.com/"},
        {"HTTPS://EXAMPLE.com/A", "https://example.com/A"},
        {"http:example.com", "http://example.com/"},
        {"http:/example.com/", "http://example.com/"},
        {"http:///example.com/", "http://example.com/"},
        {"http:\\\\example.com\\a\\b", "http://example.com/a/b"},
        {"https://example.com?q", "https://example.com/?q"},
        {"https://example.com#f", "https://example.com/#f"},
        {"https://example.com/?", "https://example.com/?"},
        {"https://example.com/#", "https://example.com/#"},
        {"https://example.com/?#", "https://example.com/?#"},
        {"https://example.com/a?b?c#d#e", "https://example.com/a?b?c#d#e"},
    });
}

TEST(Target, SpacesTabsAndNewlinesVanish) {
    expect_kept({
        {"  https://example.com/ \x1f", "https://example.com/"},
        {"ht\ntps:/\t/exa\rmple.com/a\tb?c\nd#e\rf", "https://example.com/ab?cd#ef"},
        {"https://example.com/a b", "https://example.com/a%20b"},
        {"https://example.com/\t.\t./a", "https://example.com/a"},
    });
}

TEST(Target, DotSegments) {
    expect_kept({
        {"http://h/a/./b", "http://h/a/b"},
        {"http://h/a/../b", "http://h/b"},
        {"http://h/a/b/..", "http://h/a/"},
        {"http://h/a/b/.", "http://h/a/b/"},
        {"http://h/../../a", "http://h/a"},
        {"http://h/..", "http://h/"},
        {"http://h/.", "http://h/"},
        {"http://h/a/%2e%2E/b", "http://h/b"},
        {"http://h/a/.%2e/b", "http://h/b"},
        {"http://h/a/%2e/b", "http://h/a/b"},
        {"http://h/a/.../b", "http://h/a/.../b"},
        {"http://h/a//b", "http://h/a//b"},
        {"http://h//..//a", "http://h//a"},
        {"http://h/a/..?q", "http://h/?q"},
        {"http://h/a/%2e%2e%2e", "http://h/a/%2e%2e%2e"},
        {"http://h/..%2f", "http://h/..%2f"},
        {"http://h/?a/../b", "http://h/?a/../b"},
    });
}

TEST(Target, PercentEncodeSets) {
    expect_kept({
        {"http://h/ \"<>^`{}|'~!$&()*+,;=:@[]",
         "http://h/%20%22%3C%3E%5E%60%7B%7D|'~!$&()*+,;=:@[]"},
        {"http://h/?\"<>'^`{}|\\ ", "http://h/?%22%3C%3E%27^`{}|\\"},
        {"http://h/#\"<>`'^{}|# x", "http://h/#%22%3C%3E%60'^{}|#%20x"},
        {"http://h/\x7f\x01?\x7f\x01#\x7f\x01x", "http://h/%7F%01?%7F%01#%7F%01x"},
        {"http://h/\xc3\xa9?\xe2\x82\xac#\xf0\x9f\x98\x80",
         "http://h/%C3%A9?%E2%82%AC#%F0%9F%98%80"},
        {"http://h/%25ad%zz%", "http://h/%25ad%zz%"},
        {"http://h/%c3%A9", "http://h/%c3%A9"},
    });
}

TEST(Target, Ports) {
    expect_kept({
        {"http://h:80/", "http://h/"},
        {"https://h:443/", "https://h/"},
        {"http://h:443/", "http://h:443/"},
        {"http://h:/", "http://h/"},
        {"http://h:0/", "http://h:0/"},
        {"http://h:00008080/", "http://h:8080/"},
        {"http://h:65535", "http://h:65535/"},
        {"http://[::1]:80", "http://[::1]/"},
        {"http://[::1]:8080", "http://[::1]:8080/"},
    });
    expect_refused("port", {"http://h:65536/", "http://h:99999999999999999999/", "http://h:8a/",
                            "http://h:-1/", "http://h: 80/", "http://h:80:80/"});
}

TEST(Target, Ipv4InEveryForm) {
    expect_kept({
        {"http://127.0.0.1/", "http://127.0.0.1/"},
        {"http://2130706433/", "http://127.0.0.1/"},
        {"http://0x7f.1/", "http://127.0.0.1/"},
        {"http://0X7F000001", "http://127.0.0.1/"},
        {"http://0177.0.0.01", "http://127.0.0.1/"},
        {"http://127.1", "http://127.0.0.1/"},
        {"http://127.0.0.1.", "http://127.0.0.1/"},
        {"http://0x", "http://0.0.0.0/"},
        {"http://0x.0x.0", "http://0.0.0.0/"},
        {"http://192.0x00A80001", "http://192.168.0.1/"},
        {"http://4294967295", "http://255.255.255.255/"},
        {"http://%31%32%37.1", "http://127.0.0.1/"},
        {"http://\xef\xbc\x91\xef\xbc\x92\xef\xbc\x97.1", "http://127.0.0.1/"},
        {"http://1.2.3.4.com", "http://1.2.3.4.com/"},
        {"http://0x7g", "http://0x7g/"},
        {"http://1.2.3.4..", "http://1.2.3.4../"},
    });
    expect_refused("IPv4", {"http://256.0.0.1", "http://1.2.3.4.5", "http://4294967296",
                            "http://1.2.3.08", "http://1.2.3.256", "http://1..2", "http://foo.0x4",
                            "http://foo.09", "http://1.256.3.4", "http://0x100000000",
                            "http://99999999999999999999999", "http://1.2.65536", "http://a.1"});
}

TEST(Target, Ipv6IsWrittenInOneForm) {
    expect_kept({
        {"http://[::]", "http://[::]/"},
        {"http://[::1]", "http://[::1]/"},
        {"http://[1::]", "http://[1::]/"},
        {"http://[2001:DB8:0:0:1:0:0:1]", "http://[2001:db8::1:0:0:1]/"},
        {"http://[1:0:0:2:0:0:0:3]", "http://[1:0:0:2::3]/"},
        {"http://[1:0:2:3:4:5:6:7]", "http://[1:0:2:3:4:5:6:7]/"},
        {"http://[1:2:3:4:5:6:7::]", "http://[1:2:3:4:5:6:7:0]/"},
        {"http://[::2:3:4:5:6:7:8]", "http://[0:2:3:4:5:6:7:8]/"},
        {"http://[0001:00:0:0::8]", "http://[1::8]/"},
        {"http://[::ffff:192.168.0.1]", "http://[::ffff:c0a8:1]/"},
        {"http://[1:2:3:4:5:6:1.2.3.4]", "http://[1:2:3:4:5:6:102:304]/"},
    });
    expect_refused("IPv6", {"http://[",
                            "http://[]",
                            "http://[::1",
                            "http://[:::1]",
                            "http://[1]",
                            "http://[1:2:3:4:5:6:7]",
                            "http://[1:2:3:4:5:6:7:8:9]",
                            "http://[1::2::3]",
                            "http://[12345::]",
                            "http://[::1%25eth0]",
                            "http://[::1%eth0]",
                            "http://[::g]",
                            "http://[::1.2.3]",
                            "http://[::1.2.3.4.5]",
                            "http://[::01.2.3.4]",
                            "http://[::1.2.3.256]",
                            "http://[1:]",
                            "http://[:1]",
                            "http://[1:2:3:4:5:6:7:1.2.3.4]",
                            "http://[::1.2.3.4:5]",
                            "http://[::1]x",
                            "http://[ ::1]",
                            "http://[::1.2.3.]",
                            "http://[1:2:3:4::5:6:7:8]"});
}

TEST(Target, InternationalHosts) {
    expect_kept({
        {"http://B\xc3\xbc"
         "cher.de/",
         "http://xn--bcher-kva.de/"},
        {"http://fa\xc3\x9f.de", "http://xn--fa-hia.de/"},  // non-transitional
        {"http://XN--BCHER-KVA.de", "http://xn--bcher-kva.de/"},
        {"http://b%C3%BCcher.de", "http://xn--bcher-kva.de/"},
        {"http://\xe4\xbd\xa0\xe5\xa5\xbd\xe3\x80\x82\xe4\xb8\xad\xe5\x9b\xbd",
         "http://xn--6qq79v.xn--fiqs8s/"},
        {"http://\xef\xbc\xa7\xef\xbd\x8f.com", "http://go.com/"},  // full-width letters
        {"http://go\xc2\xad.com", "http://go.com/"},                // soft hyphen
        {"http://ex_ample-.-a--b.com", "http://ex_ample-.-a--b.com/"},
        {"http://%65xample.com", "http://example.com/"},
        {"http://example.com.", "http://example.com./"},
        {"http://a!$&'()*+,;=~b", "http://a!$&'()*+,;=~b/"},
    });
    expect_refused("internationalised",
                   {"http://xn--a", "http://xn--", "http://xn--abc-",
                    "http://a\xe2\x80\x8d"
                    "b",
                    "http://\xef\xbf\xbe.com", "http://a\xd7\x90.com", "http://xn--zn7c.com"});
}

TEST(Target, ForbiddenHosts) {
    expect_refused("host is empty", {"http://", "https:", "http:///", "http://:80", "http:?q",
                                     "http://#", "https:\\\\", "http://\xc2\xad/"});
    expect_refused("no domain name", {"http://a b", "http://a<b", "http://a>b", "http://a^b",
                                      "http://a|b", "http://a%b", "http://a%00b", "http://a%2fb",
                                      "http://a%3ab", "http://a%40b", "http://a%25b",
                                      "http://a\x01"
                                      "b",
                                      "http://a\x7f"
                                      "b",
                                      "http://a[b", "http://a]", "http://a%23b",
                                      "http://\xef\xbc\x85"
                                      "41.com"});
    expect_refused("UTF-8", {"http://a%ffb", "http://a%c3%28b"});
}

TEST(Target, NoCredentials) {
    expect_refused("@", {"http://user@host/", "http://user:word@host/", "http://@host/",
                         "http://:@host", "https://good.example@evil.example/",
                         "https:good.example@evil.example", "http://a@b@c"});
    expect_kept({
        {"https://host/@user", "https://host/@user"},
        {"https://host?a@b", "https://host/?a@b"},
        {"https://host\\@evil.example", "https://host/@evil.example"},
    });
}

TEST(Target, OnlyHttpAndHttps) {
    expect_refused(
        "http and https only",
        {"ftp://h/", "javascript:alert(1)", "JavaScript:alert(1)", "java\nscript:alert(1)",
         "data:text/html,x", "file:///etc/passwd", "mailto:a@b", "ws://h", "httpss://h",
         "http+unix://h", "localhost:8080/x", "view-source:http://h", "x:"});
    expect_refused("no scheme",
                   {"", " ", "example.com", "//example.com", "/path", "http", "?q", "#", ":",
                    "1http://h", "ht!tp://h", " /a:b", "\xc3\xa9://h", "http//h:80"});
}

TEST(Target, RefusesBrokenText) {
    using namespace std::string_view_literals;
    expect_refused("U+0000", {"http://h/\0"sv, "\0http://h/"sv});
    expect_refused("UTF-8", {"http://h/\xff", "http://h/\xc3", "http://h/\xed\xa0\x80",
                             "http://h/\xc0\xaf", "http://h/\xf4\x90\x80\x80"});
}

TEST(Target, LengthBeforeAndAfter) {
    const std::string base = "http://h/";
    const std::string longest = base + std::string(target_bytes_max - base.size(), 'a');
    EXPECT_EQ(parse_target(longest).value(), longest);
    expect_refused("8192 bytes", {longest + "a", longest + " "});
    const std::string grows = base + std::string(target_bytes_max / 3, '"');
    expect_refused("percent-encoded", {grows});
}

TEST(Target, HostOfWhatIsKept) {
    EXPECT_EQ(host_of("http://example.com/"), "example.com");
    EXPECT_EQ(host_of("https://example.com:8443/a:b?c#d"), "example.com");
    EXPECT_EQ(host_of("http://[::1]:8080/"), "[::1]");
    EXPECT_EQ(host_of("http://[2001:db8::1]/:80"), "[2001:db8::1]");
}

TEST(Target, ForwardedQueryKeepsEveryByte) {
    EXPECT_EQ(append_query("http://h/", ""), "http://h/");
    EXPECT_EQ(append_query("http://h/#f", ""), "http://h/#f");
    EXPECT_EQ(append_query("http://h/", "a=1"), "http://h/?a=1");
    EXPECT_EQ(append_query("http://h/?", "a=1"), "http://h/?a=1");
    EXPECT_EQ(append_query("http://h/?x=0", "a=1"), "http://h/?x=0&a=1");
    EXPECT_EQ(append_query("http://h/?x=0&", "a=1"), "http://h/?x=0&a=1");
    EXPECT_EQ(append_query("http://h/a#f?g", "a=1"), "http://h/a?a=1#f?g");
    EXPECT_EQ(append_query("http://h/?x#f#g", "x=2"), "http://h/?x&x=2#f#g");
    // Plus signs, keys without values, numbers as keys, repeats and arrays.
    const std::string_view odd = "a+b=%20%2B&&key&0=1&0=2&c[]=%zz&=?/'\"<\xc3\xa9";
    EXPECT_EQ(append_query("http://h/", odd), "http://h/?" + std::string(odd));
}

TEST(Target, ForwardedQueryEndsNeitherQueryNorHeader) {
    EXPECT_EQ(append_query("http://h/#f", "a#b"), "http://h/?a%23b#f");
    EXPECT_EQ(append_query("http://h/", "a\r\nSet-Cookie: x"), "http://h/?a%0D%0ASet-Cookie:%20x");
}

/// URLs out of pieces that meet every state of the parser.
rc::Gen<std::string> urls() {
    const auto piece = rc::gen::elementOf(std::vector<std::string>{"http",
                                                                   "https",
                                                                   ":",
                                                                   "/",
                                                                   "//",
                                                                   "\\",
                                                                   "?",
                                                                   "#",
                                                                   "@",
                                                                   "[",
                                                                   "]",
                                                                   ".",
                                                                   "..",
                                                                   "%2e",
                                                                   "%",
                                                                   "%41",
                                                                   "example",
                                                                   ".com",
                                                                   "xn--bcher-kva",
                                                                   "\xc3\xbc",
                                                                   "\xe3\x80\x82",
                                                                   "127",
                                                                   "0x7f",
                                                                   "::1",
                                                                   ":80",
                                                                   ":8080",
                                                                   "\t",
                                                                   "\n",
                                                                   " ",
                                                                   "a",
                                                                   "B",
                                                                   "-",
                                                                   "'",
                                                                   "\"",
                                                                   "^",
                                                                   "{",
                                                                   "\xf0\x9f\x98\x80"});
    return rc::gen::map(rc::gen::container<std::vector<std::string>>(piece),
                        [](const std::vector<std::string>& pieces) {
                            std::string url;
                            for (const std::string& one : pieces) url += one;
                            return url;
                        });
}

RC_GTEST_PROP(Target, AKeptTargetParsesToItself, ()) {
    const auto start =
        *rc::gen::element<std::string>("", "http:", "https://", "http://h", "http://h/");
    const auto target = parse_target(start + *urls());
    if (!target) {
        RC_ASSERT(!target.error().detail().empty());
        return;
    }
    RC_ASSERT(parse_target(*target).value() == *target);
    RC_ASSERT(target->starts_with("http://") || target->starts_with("https://"));
    for (const char c : *target) RC_ASSERT(c > 0x20 && c < 0x7f);
    RC_ASSERT(!host_of(*target).empty());
    RC_ASSERT(host_of(*target).find_first_of("/\\@%#? ") == std::string_view::npos);
}

RC_GTEST_PROP(Target, AppendingAQueryKeepsHostPathAndFragment, (const std::string& raw)) {
    const auto target = parse_target("http://h/a?b#c" + *urls());
    RC_PRE(target.has_value());
    const std::string appended = append_query(*target, raw);
    RC_ASSERT(host_of(appended) == "h");
    RC_ASSERT(appended.starts_with("http://h/a?b"));
    RC_ASSERT(appended.ends_with(std::string_view(*target).substr(target->find('#'))));
}

RC_GTEST_PROP(Target, EveryIpv4NumberIsItsAddress, (std::uint32_t address)) {
    const std::string dotted = fmt::format("http://{}.{}.{}.{}/", address >> 24,
                                           address >> 16 & 255, address >> 8 & 255, address & 255);
    RC_ASSERT(parse_target(fmt::format("http://{}/", address)).value() == dotted);
    RC_ASSERT(parse_target(fmt::format("http://{:#x}/", address)).value() == dotted);
    RC_ASSERT(parse_target(fmt::format("http://0{:o}/", address)).value() == dotted);
    RC_ASSERT(parse_target(dotted).value() == dotted);
}

}  // namespace
}  // namespace tenon::links
