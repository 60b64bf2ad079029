#include "services/links/domains.hpp"

#include <gtest/gtest.h>

namespace tenon::links {
namespace {

const base::Uuid shop{{1}};
const base::Uuid other{{2}};

DomainSet some_domains() {
    return DomainSet({{.id = base::Uuid{{10}},
                       .host = "own.example",
                       .scheme = "https",
                       .space = {},
                       .project = shop},
                      {.id = base::Uuid{{11}},
                       .host = "127.0.0.1:8080",
                       .scheme = "http",
                       .space = {},
                       .project = std::nullopt}});
}

TEST(DomainSet, ServesAnUnknownHostFromTheSharedDomain) {
    const auto domains = some_domains();
    EXPECT_EQ(domains.serving("own.example").host, "own.example");
    EXPECT_EQ(domains.serving("localhost:8080").host, "127.0.0.1:8080");
    EXPECT_EQ(domains.serving("").host, "127.0.0.1:8080");
}

TEST(DomainSet, LetsOnlyItsProjectUseADomain) {
    const auto domains = some_domains();
    ASSERT_NE(domains.usable("own.example", shop), nullptr);
    EXPECT_EQ(domains.usable("own.example", other), nullptr);
    EXPECT_EQ(domains.usable("unknown.example", shop), nullptr);
    ASSERT_NE(domains.usable(std::nullopt, other), nullptr);
    EXPECT_EQ(domains.usable(std::nullopt, other)->host, "127.0.0.1:8080");
    EXPECT_NE(domains.usable("127.0.0.1:8080", other), nullptr);
}

}  // namespace
}  // namespace tenon::links
