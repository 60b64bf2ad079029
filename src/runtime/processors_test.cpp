#include "runtime/processors.hpp"

#include <gtest/gtest.h>

namespace tenon::runtime {
namespace {

TEST(Processors, AreAtLeastOne) {
    EXPECT_GE(processors(), 1U);
}

TEST(Processors, ReadsQuotas) {
    EXPECT_EQ(quota_of("200000 100000\n"), 2U);
    EXPECT_EQ(quota_of("150000 100000\n"), 2U) << "a fraction is rounded up";
    EXPECT_EQ(quota_of("1000 100000\n"), 1U);
    EXPECT_EQ(quota_of("max 100000\n"), std::nullopt);
    for (const char* text : {"", "100", "100 ", "100 0", "x y", "-1 100", "100\t100"}) {
        EXPECT_EQ(quota_of(text), std::nullopt) << text;
    }
}

TEST(Processors, FindsTheUnifiedGroup) {
    EXPECT_EQ(cgroup_of("0::/system.slice/tenon.service\n"), "/system.slice/tenon.service");
    EXPECT_EQ(cgroup_of("4:memory:/a\n0::/\n"), "/");
    EXPECT_EQ(cgroup_of("4:memory:/a\n"), std::nullopt);
    EXPECT_EQ(cgroup_of(""), std::nullopt);
}

}  // namespace
}  // namespace tenon::runtime
