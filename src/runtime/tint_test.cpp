#include "runtime/tint.hpp"

#include <gtest/gtest.h>

namespace tenon::runtime {
namespace {

TEST(Tint, IsWhatTerminalsRead) {
    EXPECT_EQ(tinted(Tint::red, "x"), "\033[31mx\033[0m");
    EXPECT_EQ(tinted(Tint::yellow, "x y"), "\033[33mx y\033[0m");
    EXPECT_EQ(tinted(Tint::green, "x"), "\033[32mx\033[0m");
    EXPECT_EQ(tinted(Tint::faint, ""), "\033[2m\033[0m");
}

}  // namespace
}  // namespace tenon::runtime
