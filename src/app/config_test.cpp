#include "app/config.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "app/commands.hpp"
#include "app/test_folder.hpp"
#include "runtime/config_text.hpp"
#include "runtime/errors.hpp"

namespace tenon::app {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

const runtime::OptionList& options() {
    return runtime::options_of<Config>();
}

base::Result<runtime::LoadedConfig<Config>> load_text(const std::string& toml) {
    return runtime::load_config<Config>(
        {.file = runtime::ConfigFile{.name = "tenon.toml", .text = toml},
         .environment = {},
         .flags = {}});
}

// As the commands load it.
base::Result<runtime::LoadedConfig<Config>> load_file(const std::string& toml) {
    const TestFolder folder;
    const auto file = folder.path / "tenon.toml";
    std::ofstream(file) << toml;
    return load({.config_file = file.string(), .flags = {}});
}

base::Result<runtime::LoadedConfig<Config>> load_variable(const std::string& name,
                                                          const std::string& value) {
    return runtime::load_config<Config>(
        {.file = std::nullopt, .environment = {{name, value}}, .flags = {}});
}

TEST(AppConfig, SaysOfEveryOptionWhatItDoesAndWithinWhichBounds) {
    EXPECT_GE(options().options.size(), 29U);
    for (const auto& option : options().options) {
        EXPECT_THAT(std::string(option.doc.effect), EndsWith(".")) << option.path;
        const bool bounded = option.doc.minimum != std::numeric_limits<std::int64_t>::min() &&
                             option.doc.maximum != std::numeric_limits<std::int64_t>::max();
        const bool counts =
            option.type == "integer" || option.type == "duration" || option.type == "bytes";
        if (counts && option.path != "http.port") EXPECT_TRUE(bounded) << option.path;
    }
    for (const auto& section : options().sections) {
        EXPECT_THAT(std::string(section.effect), EndsWith(".")) << section.path;
    }
}

TEST(AppConfig, AcceptsItsDefaultsAlsoWhenTheyAreWrittenDown) {
    const auto bare = load_text("");
    ASSERT_TRUE(bare.has_value());
    for (const auto& option : options().options) {
        const auto dot = option.path.find('.');
        const auto text = "[" + option.path.substr(0, dot) + "]\n" + option.path.substr(dot + 1) +
                          " = " + option.default_text + "\n";
        const auto written = load_text(text);
        ASSERT_TRUE(written.has_value()) << text << written.error().detail();
        EXPECT_EQ(option.write(&written->values), option.write(&bare->values)) << option.path;
    }
}

TEST(AppConfig, NamesThePlaceOfABadValueAndWhatWouldBeGood) {
    const auto port = load_variable("TENON_HTTP_PORT", "99999");
    ASSERT_FALSE(port.has_value());
    EXPECT_THAT(port.error().detail(), HasSubstr("TENON_HTTP_PORT"));
    EXPECT_THAT(port.error().detail(), HasSubstr("65535"));
    const auto ttl = load_text("[links]\ncache_ttl = \"31s\"\n");
    ASSERT_FALSE(ttl.has_value());
    EXPECT_THAT(ttl.error().detail(), HasSubstr("tenon.toml:2"));
    EXPECT_THAT(ttl.error().detail(), HasSubstr("links.cache_ttl"));
    EXPECT_TRUE(load_text("[links]\ncache_ttl = \"30s\"\n").has_value());
    const auto unknown = load_text("[postgres]\nmultiplexd = 2\n");
    ASSERT_FALSE(unknown.has_value());
    EXPECT_THAT(unknown.error().detail(), HasSubstr("postgres.multiplexed"));
    EXPECT_FALSE(load_variable("TENON_HTTP_PROT", "8080").has_value());
}

TEST(AppConfig, ToldAllProblemsAtOnce) {
    const auto refused =
        load_text("[http]\nport = \"x\"\n[process]\ncores = 257\n[redis]\ncommand_timeout = 5\n");
    ASSERT_FALSE(refused.has_value());
    EXPECT_THAT(refused.error().detail(), HasSubstr("http.port"));
    EXPECT_THAT(refused.error().detail(), HasSubstr("process.cores"));
    EXPECT_THAT(refused.error().detail(), HasSubstr("redis.command_timeout"));
}

TEST(AppConfig, RefusesNetworksAndOriginsThatMeanNothing) {
    const auto refused = load_file(
        "[http]\ntrusted_proxies = [\"10.0.0.0/8\", \"10.1.2.3/8\"]\n"
        "cors_origins = [\"https://a.example/\"]\n");
    ASSERT_FALSE(refused.has_value());
    EXPECT_THAT(refused.error().detail(), HasSubstr("tenon.toml:2: http.trusted_proxies: "));
    EXPECT_THAT(refused.error().detail(), HasSubstr("write 10.0.0.0/8"));
    EXPECT_THAT(refused.error().detail(), HasSubstr("tenon.toml:3: http.cors_origins: "));
    const auto half = load_file("[http]\ntls_certificate = \"certificate.pem\"\n");
    ASSERT_FALSE(half.has_value());
    EXPECT_THAT(half.error().detail(), HasSubstr("http.tls_key: is empty"));
    EXPECT_TRUE(load_file("[http]\ntrusted_proxies = [\"::1\"]\ncors_origins = [\"*\"]\n"));
}

TEST(AppConfig, ShowsNoSecret) {
    const auto loaded = load_text(
        "[postgres]\nconninfo = \"host=db password=hunter2\"\n[redis]\npassword = \"hunter2\"\n");
    ASSERT_TRUE(loaded.has_value());
    EXPECT_THAT(runtime::show_config_text(loaded->states), Not(HasSubstr("hunter2")));
    EXPECT_THAT(runtime::show_config_json(loaded->states), Not(HasSubstr("hunter2")));
    const auto refused = load_text("[redis]\npassword = [\"hunter2\"]\n");
    ASSERT_FALSE(refused.has_value());
    EXPECT_THAT(refused.error().detail(), Not(HasSubstr("hunter2")));
}

TEST(AppConfig, ReadsTheEnvironmentAndThenTheFlags) {
    ASSERT_EQ(setenv("TENON_HTTP_PORT", "81", 1), 0);
    ASSERT_EQ(setenv("TENON_PROCESS_CORES", "3", 1), 0);
    const auto loaded = load(
        {.config_file = "", .flags = {{.flag = "--port", .path = "http.port", .value = "82"}}});
    unsetenv("TENON_HTTP_PORT");
    unsetenv("TENON_PROCESS_CORES");
    ASSERT_TRUE(loaded.has_value()) << loaded.error().detail();
    EXPECT_EQ(loaded->values.http.port, 82);
    EXPECT_EQ(loaded->values.process.cores, 3U);
    const auto missing = load({.config_file = "/nonexistent/tenon.toml", .flags = {}});
    ASSERT_FALSE(missing.has_value());
    EXPECT_THAT(missing.error().detail(), HasSubstr("/nonexistent/tenon.toml"));
}

}  // namespace
}  // namespace tenon::app
