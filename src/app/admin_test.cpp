#include "app/admin.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "http/route.hpp"
#include "runtime/test_core.hpp"

namespace tenon::app {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class Admin : public testing::Test {
protected:
    Admin() {
        add_admin_routes(router_, {.dependencies = [this] { return tell_dependencies(); },
                                   .is_draining = [this] { return is_draining_; }});
    }
    boost::asio::awaitable<std::vector<Dependency>> tell_dependencies() { co_return dependencies_; }
    http::Response ask(std::string_view path) {
        http::Request request;
        request.method = http::Method::get;
        request.target = path;
        request.path = path;
        request.headers = {{.name = "host", .value = "tenon.example:8080"}};
        http::Response response;
        auto call = host_.call();
        const auto route = router_.find(request.method, path);
        EXPECT_EQ(route.kind, http::Route::Kind::endpoint) << path;
        http::Exchange exchange{
            .call = call, .request = request, .response = response, .route = route};
        host_.run(route.endpoint->run(exchange));
        return response;
    }
    std::string status_told() {
        const auto told = boost::json::parse(ask("/readyz").body());
        return std::string(told.at("status").as_string());
    }

    runtime::TestCore host_;
    http::Router router_;
    std::vector<Dependency> dependencies_{
        {.name = "postgres", .is_up = true, .is_needed = true, .why_down = ""},
        {.name = "redis", .is_up = true, .is_needed = false, .why_down = ""}};
    bool is_draining_ = false;
};

TEST_F(Admin, IsReadyWhileEveryPartIsUp) {
    const auto response = ask("/readyz");
    EXPECT_EQ(response.status(), 200);
    EXPECT_EQ(status_told(), "ready");
    EXPECT_THAT(std::string(response.headers()), HasSubstr("Cache-Control: no-store\r\n"));
    EXPECT_THAT(std::string(response.headers()), Not(HasSubstr("Retry-After")));
}

TEST_F(Admin, ServesOnWithoutWhatOnlyDegrades) {
    dependencies_[1] = {
        .name = "redis", .is_up = false, .is_needed = false, .why_down = "connection refused"};
    const auto response = ask("/readyz");
    EXPECT_EQ(response.status(), 200);
    EXPECT_EQ(status_told(), "degraded");
    const auto told = boost::json::parse(response.body());
    const auto& redis = told.at("checks").at(1);
    EXPECT_EQ(redis.at("name").as_string(), "redis");
    EXPECT_FALSE(redis.at("up").as_bool());
    EXPECT_EQ(redis.at("reason").as_string(), "connection refused");
}

TEST_F(Admin, IsNotReadyWithoutWhatItNeeds) {
    dependencies_[0] = {
        .name = "postgres", .is_up = false, .is_needed = true, .why_down = "away for 3 s"};
    for (const bool redis : {true, false}) {
        dependencies_[1].is_up = redis;
        const auto response = ask("/readyz");
        EXPECT_EQ(response.status(), 503);
        EXPECT_EQ(status_told(), "not ready");
        EXPECT_THAT(std::string(response.headers()), HasSubstr("Retry-After: 1\r\n"));
    }
    // The order of the parts does not matter.
    std::swap(dependencies_[0], dependencies_[1]);
    EXPECT_EQ(status_told(), "not ready");
    EXPECT_EQ(ask("/healthz").status(), 200);  // it lives all the same
}

Dependency part(bool is_up, bool is_needed = false, std::string why_down = "") {
    return {.name = "postgres",
            .is_up = is_up,
            .is_needed = is_needed,
            .why_down = std::move(why_down)};
}

TEST(MergeDependencies, IsUpOnlyWhereEveryCoreIs) {
    const std::vector<std::vector<Dependency>> all_up{{part(true)}, {part(true)}};
    EXPECT_TRUE(merge_dependencies(all_up).front().is_up);
    EXPECT_EQ(merge_dependencies(all_up).front().why_down, "");
    for (const std::size_t away : {0UL, 1UL, 2UL}) {
        std::vector<std::vector<Dependency>> by_core{{part(true)}, {part(true)}, {part(true)}};
        by_core[away] = {part(false, true, "away for 3 s")};
        const auto merged = merge_dependencies(by_core);
        ASSERT_EQ(merged.size(), 1U);
        EXPECT_EQ(merged.front().name, "postgres");
        EXPECT_FALSE(merged.front().is_up);
        EXPECT_TRUE(merged.front().is_needed);
        EXPECT_EQ(merged.front().why_down, "on 1 of 3 cores: away for 3 s");
    }
}

TEST(MergeDependencies, TellsEveryReasonOnce) {
    const std::vector<std::vector<Dependency>> alike{{part(false, false, "refused")},
                                                     {part(false, false, "refused")}};
    EXPECT_EQ(merge_dependencies(alike).front().why_down, "refused");
    EXPECT_FALSE(merge_dependencies(alike).front().is_needed);
    const std::vector<std::vector<Dependency>> different{{part(false, false, "refused")},
                                                         {part(false, false, "held back")}};
    EXPECT_EQ(merge_dependencies(different).front().why_down, "refused; held back");
}

TEST(MergeDependencies, KeepsPartsApart) {
    const auto redis = [](bool is_up) {
        return Dependency{.name = "redis", .is_up = is_up, .is_needed = false, .why_down = "slow"};
    };
    const std::vector<std::vector<Dependency>> by_core{{part(true, true), redis(true)},
                                                       {part(true, true), redis(false)}};
    const auto merged = merge_dependencies(by_core);
    ASSERT_EQ(merged.size(), 2U);
    EXPECT_TRUE(merged[0].is_up);
    EXPECT_EQ(merged[1].name, "redis");
    EXPECT_FALSE(merged[1].is_up);
    EXPECT_EQ(merged[1].why_down, "on 1 of 2 cores: slow");
    EXPECT_TRUE(merge_dependencies({}).empty());
}

TEST_F(Admin, SendsNewRequestsElsewhereWhileItDrains) {
    is_draining_ = true;
    EXPECT_EQ(ask("/readyz").status(), 503);
    EXPECT_EQ(status_told(), "draining");
    EXPECT_EQ(ask("/healthz").body(), "ok\n");
}

TEST_F(Admin, DescribesItself) {
    const auto document = boost::json::parse(ask("/openapi.json").body());
    EXPECT_EQ(document.at("servers").at(0).at("url").as_string(), "http://tenon.example:8080");
    EXPECT_TRUE(document.at("paths").as_object().contains("/readyz"));
    EXPECT_THAT(std::string(ask("/docs").body()), StartsWith("<!doctype html>"));
    EXPECT_THAT(std::string(ask("/").body()), HasSubstr("/docs"));
    EXPECT_THAT(std::string(ask("/metrics").headers()), HasSubstr("text/plain"));
}

TEST_F(Admin, KeepsItsPathsFromAliases) {
    EXPECT_THAT(router_.reserved_segments(),
                testing::IsSupersetOf({"healthz", "readyz", "metrics", "openapi.json", "docs"}));
}

}  // namespace
}  // namespace tenon::app
