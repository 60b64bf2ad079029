#include "http/endpoint.hpp"

#include <gtest/gtest.h>

namespace tenon::http {

namespace {

boost::asio::awaitable<void> nothing(runtime::Call&, const Request&, Response&) {
    co_return;
}

class Routing : public ::testing::Test {
protected:
    Routing() {
        router_.add_raw({.method = Method::get, .path = "/v1/links"}, nothing);
        router_.add_raw({.method = Method::post, .path = "/v1/links"}, nothing);
        router_.add_raw({.method = Method::get, .path = "/v1/links/{code}"}, nothing);
        router_.add_raw({.method = Method::del, .path = "/v1/links/{id}"}, nothing);
        router_.add_raw({.method = Method::get, .path = "/v1/links/bulk"}, nothing);
        router_.add_raw({.method = Method::get, .path = "/v1/links/{code}/clicks/{day}"}, nothing);
        router_.add_raw({.method = Method::get, .path = "/healthz"}, nothing);
    }
    std::string path_at(Method method, std::string_view path) {
        const Route route = router_.find(method, path);
        if (route.kind != Route::Kind::endpoint) return "";
        return std::string(route.endpoint->spec.path);
    }
    Router router_;
};

TEST_F(Routing, FindsLiteralPathsAndTemplates) {
    EXPECT_EQ(path_at(Method::get, "/v1/links"), "/v1/links");
    EXPECT_EQ(path_at(Method::head, "/v1/links"), "/v1/links");
    EXPECT_EQ(path_at(Method::get, "/v1/links/bulk"), "/v1/links/bulk");
    EXPECT_EQ(path_at(Method::del, "/v1/links/abc"), "/v1/links/{id}");
    const Route route = router_.find(Method::get, "/v1/links/a%20b/clicks/7");
    ASSERT_EQ(route.kind, Route::Kind::endpoint);
    EXPECT_EQ(route.capture("code"), "a%20b");
    EXPECT_EQ(route.capture("day"), "7");
}

TEST_F(Routing, TriesALiteralSegmentBeforeAParameter) {
    EXPECT_EQ(path_at(Method::get, "/v1/links/bulk/clicks/7"), "/v1/links/{code}/clicks/{day}");
}

TEST_F(Routing, TellsAWrongMethodFromAnUnknownPath) {
    EXPECT_EQ(router_.find(Method::put, "/v1/links").kind, Route::Kind::wrong_method);
    EXPECT_EQ(router_.find(Method::put, "/v1/links").allow, "GET, HEAD, POST, OPTIONS");
    EXPECT_EQ(router_.find(Method::options, "/v1/links/x").kind, Route::Kind::options);
    for (const char* path : {"/v1", "/v1/", "/v1/links/", "/v1/links//clicks/7", "/v1/other",
                             "/healthz/x", "/v1/links/a/clicks", "/", "", "*"}) {
        EXPECT_EQ(router_.find(Method::get, path).kind, Route::Kind::nowhere) << path;
    }
}

TEST_F(Routing, FallsBackOnlyWhereNoEndpointOwnsTheFirstSegment) {
    router_.set_fallback({}, nothing);
    EXPECT_EQ(router_.find(Method::get, "/abc").kind, Route::Kind::fallback);
    EXPECT_EQ(router_.find(Method::head, "/abc/def").kind, Route::Kind::fallback);
    EXPECT_EQ(router_.find(Method::post, "/abc").kind, Route::Kind::wrong_method);
    EXPECT_EQ(router_.find(Method::get, "/v1/other").kind, Route::Kind::nowhere);
    EXPECT_EQ(router_.find(Method::get, "/v1x").kind, Route::Kind::fallback);
}

TEST_F(Routing, NamesTheSegmentsThatAreTaken) {
    EXPECT_EQ(router_.reserved_segments(), (std::vector<std::string>{"healthz", "v1"}));
}

}  // namespace

}  // namespace tenon::http
