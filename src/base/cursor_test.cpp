#include "base/cursor.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/errors.hpp"
#include "base/hash.hpp"

namespace tenon::base {
namespace {

using Values = std::vector<std::string>;

constexpr SealKey key{1, 2, 3};

std::string as_text(std::span<const std::uint8_t> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

TEST(Cursor, HasTheDocumentedShape) {
    const std::string bytes = decode_base64url(CursorSealer(key).seal("b", {"xy", ""})).value();
    const std::string body("\x01\x00\x02xy\x00\x00", 7);
    EXPECT_EQ(bytes.substr(0, 7), body);
    const std::string signed_bytes = std::string(
                                         "\x01\x00\x00\x00\x01"
                                         "b",
                                         6) +
                                     body.substr(1);
    EXPECT_EQ(bytes.substr(7), as_text(hmac_sha256(key, signed_bytes)).substr(0, 16));
}

RC_GTEST_PROP(Cursor, RoundTrip,
              (const SealKey& drawn_key, const std::string& binding, const Values& values)) {
    const CursorSealer sealer(drawn_key);
    std::size_t size = 0;
    for (const std::string& value : values) size += value.size() + 2;
    RC_PRE(size <= 1'519u);
    const std::string cursor = sealer.seal(binding, values);
    RC_ASSERT(cursor.size() <= cursor_bytes_max);
    const auto opened = sealer.open(binding, cursor);
    RC_ASSERT(opened.has_value());
    RC_ASSERT(*opened == values);
}

TEST(Cursor, HoldsAsMuchAsItPromises) {
    const CursorSealer sealer(key);
    const Values values{std::string(1'517, 'v')};
    const std::string cursor = sealer.seal("list", values);
    EXPECT_EQ(cursor.size(), cursor_bytes_max);
    EXPECT_EQ(sealer.open("list", cursor).value(), values);
}

RC_GTEST_PROP(Cursor, EveryChangedBitIsRefused, (const Values& values)) {
    const CursorSealer sealer(key);
    RC_PRE(values.size() < 20u);
    const std::string cursor = sealer.seal("list", values);
    for (std::size_t bit = 0; bit < cursor.size() * 8; ++bit) {
        std::string changed = cursor;
        changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << (bit % 8)));
        const auto opened = sealer.open("list", changed);
        RC_ASSERT(!opened.has_value());
        RC_ASSERT(opened.error().is(errors::invalid_cursor));
    }
}

RC_GTEST_PROP(Cursor, EveryCutAndAdditionIsRefused, (const Values& values)) {
    const CursorSealer sealer(key);
    RC_PRE(values.size() < 20u);
    const std::string cursor = sealer.seal("list", values);
    for (std::size_t size = 0; size < cursor.size(); ++size) {
        RC_ASSERT(!sealer.open("list", cursor.substr(0, size)).has_value());
    }
    RC_ASSERT(!sealer.open("list", cursor + "A").has_value());
    RC_ASSERT(!sealer.open("list", cursor + "AAAA").has_value());
    RC_ASSERT(!sealer.open("list", cursor + "=").has_value());
}

RC_GTEST_PROP(Cursor, AnotherBindingOrKeyIsRefused,
              (const std::string& binding, const std::string& other, const Values& values,
               const SealKey& other_key)) {
    RC_PRE(binding != other && other_key != key);
    RC_PRE(values.size() < 20u);
    const std::string cursor = CursorSealer(key).seal(binding, values);
    RC_ASSERT(!CursorSealer(key).open(other, cursor).has_value());
    RC_ASSERT(!CursorSealer(other_key).open(binding, cursor).has_value());
}

TEST(Cursor, BindingAndValuesNeverRunTogether) {
    const CursorSealer sealer(key);
    const std::string value_in_list = sealer.seal("list", {"a"});
    // What "list" and the value "a" look like, moved into the binding.
    const std::string moved(
        "list\x00\x01"
        "a",
        7);
    const std::string seal = decode_base64url(value_in_list).value().substr(4);
    EXPECT_FALSE(sealer.open(moved, encode_base64url("\x01" + seal)));
}

TEST(Base64url, VectorsOfRfc4648) {
    for (const auto& [plain, text] :
         std::vector<std::pair<std::string, std::string>>{{"", ""},
                                                          {"f", "Zg"},
                                                          {"fo", "Zm8"},
                                                          {"foo", "Zm9v"},
                                                          {"foob", "Zm9vYg"},
                                                          {"fooba", "Zm9vYmE"},
                                                          {"foobar", "Zm9vYmFy"},
                                                          {"\xff\xfe\xfd", "__79"}}) {
        EXPECT_EQ(encode_base64url(plain), text);
        EXPECT_EQ(decode_base64url(text), plain);
    }
    for (const std::string_view text : {"Z", "Zh", "Zm9", "Zg==", "Zm9v\n", "Zm+v", "Zm/v"}) {
        EXPECT_FALSE(decode_base64url(text)) << text;
    }
}

RC_GTEST_PROP(Base64url, RoundTrip, (const std::vector<std::uint8_t>& bytes)) {
    RC_ASSERT(decode_base64url(encode_base64url(as_text(bytes))) == as_text(bytes));
}

}  // namespace
}  // namespace tenon::base
