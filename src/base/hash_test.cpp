#include "base/hash.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/slot.hpp"
#include "base/uuid.hpp"

namespace tenon::base {
namespace {

// FIPS 180-2, appendix B.1.
TEST(Hash, Sha256OfAbc) {
    EXPECT_EQ(to_hex(sha256("abc")),
              "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

// RFC 4231, test case 2.
TEST(Hash, HmacSha256OfRfc4231) {
    const std::string_view key = "Jefe";
    const std::span bytes(reinterpret_cast<const std::uint8_t*>(key.data()), key.size());
    EXPECT_EQ(to_hex(hmac_sha256(bytes, "what do ya want for nothing?")),
              "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

TEST(Hash, HmacAcceptsAnEmptyKey) {
    EXPECT_EQ(to_hex(hmac_sha256({}, "")),
              "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad");
}

// RFC 1321, appendix A.5.
TEST(Hash, Md5OfTheRfc) {
    EXPECT_EQ(to_hex(md5("")), "d41d8cd98f00b204e9800998ecf8427e");
    EXPECT_EQ(to_hex(md5("message digest")), "f96b697d7cb7938d525a2f31aaf161d0");
}

TEST(Hash, Hash64IsXxh3) {
    EXPECT_EQ(hash64(""), 0x2d06800538d394c2u);
}

// The reference implementation's vector for the message 00 01 .. 07.
TEST(Hash, SipHashOfTheReference) {
    std::array<std::uint8_t, 16> key{};
    for (std::uint8_t i = 0; i < 16; ++i) key[i] = i;
    EXPECT_EQ(sip_hash64(key, 0x0706050403020100u), 0x93f5f5799a932462u);
}

RC_GTEST_PROP(Hash, ConstantTimeCompareIsEquality, (std::string left, std::string right)) {
    RC_ASSERT(equal_in_constant_time(left, right) == (left == right));
    RC_ASSERT(equal_in_constant_time(left, left));
}

// These slots are data: rows lie where they say. A change here loses every row there is.
TEST(Slot, FixedVectors) {
    Uuid project;
    EXPECT_EQ(slot_of(project, "").value, 360);
    EXPECT_EQ(slot_of(project, "hello").value, 861);
    project.bytes[0] = 1;
    EXPECT_EQ(slot_of(project, "hello").value, 259);
    EXPECT_EQ(slot_of(project, std::string(1'000, 'x')).value, 856);
}

RC_GTEST_PROP(Slot, IsXxh3OfProjectAndKey,
              (const std::array<std::uint8_t, 16>& project, std::string key)) {
    // Repeated, so that keys longer than the small buffer occur.
    for (int i = 0; i < 4; ++i) key += key;
    std::string bytes(reinterpret_cast<const char*>(project.data()), project.size());
    bytes += key;
    RC_ASSERT(slot_of(Uuid{project}, key).value == hash64(bytes) % slots_total);
}

TEST(Slot, SpreadsConsecutiveKeys) {
    std::array<int, slots_total> rows{};
    for (int i = 0; i < 102'400; ++i) ++rows[slot_of(Uuid{}, std::to_string(i)).value];
    const auto [fewest, most] = std::minmax_element(rows.begin(), rows.end());
    EXPECT_GT(*fewest, 50);
    EXPECT_LT(*most, 150);
}

RC_GTEST_PROP(Bucket, NamesItsSpaceAndSlot, ()) {
    const Space space{*rc::gen::inRange<std::uint32_t>(0, 1'000'000)};
    const Slot slot{*rc::gen::inRange<std::uint16_t>(0, slots_total)};
    const Bucket bucket = bucket_of(space, slot);
    RC_ASSERT(slot_of(bucket) == slot);
    RC_ASSERT(space_of(bucket) == space);
}

}  // namespace
}  // namespace tenon::base
