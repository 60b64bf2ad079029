#include "runtime/config.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <boost/json.hpp>
#include <filesystem>
#include <fstream>

#include "runtime/config_text.hpp"
#include "runtime/errors.hpp"

namespace tenon::runtime {

enum class Mode { fast, safe };
BOOST_DESCRIBE_ENUM(Mode, fast, safe)

struct TlsOptions {
    std::string certificate;
    Secret key;
};
BOOST_DESCRIBE_STRUCT(TlsOptions, (), (certificate, key))

struct WebOptions {
    std::vector<std::string> addresses{"127.0.0.1", "::1"};
    std::uint16_t port = 8'080;
    std::size_t body_bytes_max = 1 << 20;
    std::chrono::milliseconds idle_timeout{75'000};
    bool keep_alive = true;
    double ratio = 0.5;
    Mode mode = Mode::safe;
    std::optional<std::uint64_t> seed;
    TlsOptions tls;
};
BOOST_DESCRIBE_STRUCT(WebOptions, (),
                      (addresses, port, body_bytes_max, idle_timeout, keep_alive, ratio, mode, seed,
                       tls))

struct StoreOptions {
    std::string conninfo = "host=/run/x";
    std::string password;
    std::int32_t offset = 0;
};
BOOST_DESCRIBE_STRUCT(StoreOptions, (), (conninfo, password, offset))

struct TestConfig {
    std::string name = "tenon";
    WebOptions web;
    StoreOptions store;
};
BOOST_DESCRIBE_STRUCT(TestConfig, (), (name, web, store))

template <>
struct option_docs<TlsOptions> {
    static constexpr OptionDoc list[] = {
        {.name = "certificate", .effect = "File of the certificate."},
        {.name = "key", .effect = "The key."},
    };
};

template <>
struct option_docs<WebOptions> {
    static constexpr OptionDoc list[] = {
        {.name = "addresses", .effect = "Where to listen."},
        {.name = "port", .effect = "Port to listen on; 0 takes any free one."},
        {.name = "body_bytes_max",
         .effect = "Longest body; a longer one is answered by 413.",
         .unit = "bytes",
         .minimum = 1'024,
         .maximum = 64 << 20},
        {.name = "idle_timeout",
         .effect = "How long a connection may rest.",
         .minimum = 1,
         .maximum = 3'600'000},
        {.name = "keep_alive", .effect = "Whether connections are kept."},
        {.name = "ratio", .effect = "A share."},
        {.name = "mode", .effect = "Either | or."},
        {.name = "seed", .effect = "Drawn when not set."},
        {.name = "tls", .effect = "Certificates."},
    };
};

template <>
struct option_docs<StoreOptions> {
    static constexpr OptionDoc list[] = {
        {.name = "conninfo", .effect = "Where the store is."},
        {.name = "password", .effect = "Its password.", .secret = true},
        {.name = "offset", .effect = "Shift.", .unit = "rows", .minimum = -10, .maximum = 10},
    };
};

template <>
struct option_docs<TestConfig> {
    static constexpr OptionDoc list[] = {
        {.name = "name", .effect = "Name of this process."},
        {.name = "web", .effect = "The server."},
        {.name = "store", .effect = "The store."},
    };
};

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

ConfigSources from_toml(std::string text) {
    return {.file = ConfigFile{"t.toml", std::move(text)}, .environment = {}, .flags = {}};
}

ConfigSources from_environment(std::vector<std::pair<std::string, std::string>> variables) {
    return {.file = std::nullopt, .environment = std::move(variables), .flags = {}};
}

std::vector<std::string> problems(const ConfigSources& sources) {
    const auto loaded = load_config<TestConfig>(sources);
    if (loaded) return {"nothing was refused"};
    EXPECT_TRUE(loaded.error().is(errors::config_invalid));
    std::vector<std::string> lines;
    std::string line;
    for (std::istringstream all(loaded.error().detail()); std::getline(all, line);) {
        lines.push_back(line);
    }
    return lines;
}

const OptionState& state_of(const LoadedConfig<TestConfig>& loaded, std::string_view path) {
    for (const OptionState& state : loaded.states) {
        if (state.option->path == path) return state;
    }
    throw std::out_of_range(std::string(path));
}

// A file that is removed at the end.
class TempFile {
public:
    explicit TempFile(const std::string& text) {
        const int file = ::mkstemp(path_.data());
        if (file >= 0) ::close(file);
        std::ofstream(path_) << text;
    }
    ~TempFile() { std::filesystem::remove(path_); }
    TempFile(const TempFile&) = delete;
    TempFile& operator=(const TempFile&) = delete;
    [[nodiscard]] const std::string& path() const { return path_; }

private:
    std::string path_ = std::filesystem::temp_directory_path() / "tenon-config-XXXXXX";
};

TEST(Config, WithoutSourcesEverythingIsAtItsDefault) {
    const auto loaded = load_config<TestConfig>({});
    ASSERT_TRUE(loaded);
    EXPECT_EQ(loaded->values.web.port, 8'080);
    EXPECT_EQ(loaded->states.size(), 14U);
    for (const OptionState& state : loaded->states) EXPECT_EQ(state.origin, "default");
}

TEST(Config, FileSetsEveryTypeAndRemembersItsLine) {
    const auto loaded = load_config<TestConfig>(from_toml(R"(name = "n"
[web]
addresses = ["::"]
port = 0
body_bytes_max = "64KiB"
idle_timeout = "250ms"
keep_alive = false
ratio = 1
mode = "fast"
seed = 7
[web.tls]
key = "k"
[store]
offset = -3
)"));
    ASSERT_TRUE(loaded) << loaded.error().detail();
    const WebOptions& web = loaded->values.web;
    EXPECT_THAT(web.addresses, ElementsAre("::"));
    EXPECT_EQ(web.port, 0);
    EXPECT_EQ(web.body_bytes_max, 65'536U);
    EXPECT_EQ(web.idle_timeout, std::chrono::milliseconds(250));
    EXPECT_FALSE(web.keep_alive);
    EXPECT_EQ(web.ratio, 1.0);
    EXPECT_EQ(web.mode, Mode::fast);
    EXPECT_EQ(web.seed, 7U);
    EXPECT_EQ(web.tls.key.reveal(), "k");
    EXPECT_EQ(loaded->values.store.offset, -3);
    EXPECT_EQ(state_of(*loaded, "web.port").origin, "t.toml:4");
    EXPECT_EQ(state_of(*loaded, "web.tls.key").origin, "t.toml:12");
}

TEST(Config, LaterSourcesWin) {
    ConfigSources sources = from_toml("[web]\nport = 1\nratio = 0.1\nseed = 1\n");
    sources.environment = {{"TENON_WEB_PORT", "2"}, {"TENON_WEB_RATIO", "0.2"}};
    sources.flags = {{"--port", "web.port", "3"}};
    const auto loaded = load_config<TestConfig>(sources);
    ASSERT_TRUE(loaded) << loaded.error().detail();
    EXPECT_EQ(loaded->values.web.port, 3);
    EXPECT_EQ(loaded->values.web.ratio, 0.2);
    EXPECT_EQ(loaded->values.web.seed, 1U);
    EXPECT_EQ(state_of(*loaded, "web.port").origin, "flag --port");
    EXPECT_EQ(state_of(*loaded, "web.ratio").origin, "env TENON_WEB_RATIO");
    EXPECT_EQ(state_of(*loaded, "web.seed").origin, "t.toml:4");
}

TEST(Config, EnvironmentReadsEveryTypeFromText) {
    const auto loaded =
        load_config<TestConfig>(from_environment({{"TENON_NAME", "123"},
                                                  {"TENON_WEB_ADDRESSES", "10.0.0.1, ::1"},
                                                  {"TENON_WEB_BODY_BYTES_MAX", "2048"},
                                                  {"TENON_WEB_IDLE_TIMEOUT", "1m"},
                                                  {"TENON_WEB_KEEP_ALIVE", "false"},
                                                  {"TENON_WEB_MODE", "fast"},
                                                  {"TENON_WEB_SEED", "18446744073709551615"},
                                                  {"TENON_STORE_OFFSET", "-10"}}));
    ASSERT_TRUE(loaded) << loaded.error().detail();
    EXPECT_EQ(loaded->values.name, "123");
    EXPECT_THAT(loaded->values.web.addresses, ElementsAre("10.0.0.1", "::1"));
    EXPECT_EQ(loaded->values.web.body_bytes_max, 2'048U);
    EXPECT_EQ(loaded->values.web.idle_timeout, std::chrono::minutes(1));
    EXPECT_EQ(loaded->values.web.seed, std::numeric_limits<std::uint64_t>::max());
    EXPECT_EQ(loaded->values.store.offset, -10);
}

TEST(Config, FileVariantReadsTheContentTrimmed) {
    const TempFile file("  s3cret \n");
    const auto loaded =
        load_config<TestConfig>(from_environment({{"TENON_STORE_PASSWORD_FILE", file.path()}}));
    ASSERT_TRUE(loaded) << loaded.error().detail();
    EXPECT_EQ(loaded->values.store.password, "s3cret");
    EXPECT_EQ(state_of(*loaded, "store.password").origin, "env TENON_STORE_PASSWORD_FILE");
    EXPECT_EQ(state_of(*loaded, "store.password").value, "\"********\"");
}

TEST(Config, FileVariantThatCannotBeReadSaysWhy) {
    EXPECT_THAT(problems(from_environment({{"TENON_STORE_PASSWORD_FILE", "/nowhere/x"}})),
                ElementsAre("env TENON_STORE_PASSWORD_FILE: /nowhere/x cannot be read: "
                            "No such file or directory."));
}

TEST(Config, AVariableAndItsFileVariantTogetherAreRefused) {
    const TempFile file("x");
    EXPECT_THAT(problems(from_environment(
                    {{"TENON_STORE_PASSWORD", "a"}, {"TENON_STORE_PASSWORD_FILE", file.path()}})),
                ElementsAre("env TENON_STORE_PASSWORD_FILE: set either it or "
                            "TENON_STORE_PASSWORD."));
}

TEST(Config, UnknownKeysNameTheirLineAndTheNearestKey) {
    EXPECT_THAT(problems(from_toml("nmae = 1\n\n[web]\nprot = 1\n\n[sotre]\nx = 1\n[web.tsl]\n")),
                ElementsAre("t.toml:1: there is no option nmae; did you mean name?",
                            "t.toml:4: there is no option web.prot; did you mean web.port?",
                            "t.toml:6: there is no option sotre; did you mean store?",
                            "t.toml:8: there is no option web.tsl; did you mean web.tls?"));
    EXPECT_THAT(problems(from_toml("port = 1\n[store]\nport = 1\nnothing_like_it = 2\n")),
                ElementsAre("t.toml:1: there is no option port; did you mean web.port?",
                            "t.toml:3: there is no option store.port; did you mean web.port?",
                            "t.toml:4: there is no option store.nothing_like_it."));
    EXPECT_THAT(problems(from_toml("web = 1\n[name]\n")),
                ElementsAre("t.toml:1: web is a section, not an option.",
                            "t.toml:2: name is a table; expected a text."));
}

TEST(Config, UnknownVariablesAreRefusedButForReservedOnes) {
    EXPECT_THAT(problems(from_environment({{"TENON_WEB_PROT", "1"},
                                           {"TENON_TEST_POSTGRES", "x"},
                                           {"TENON_URL", "x"},
                                           {"TENON_KEY", "x"},
                                           {"HOME", "/"},
                                           {"TENON_STORE_PASSWORT_FILE", "x"},
                                           {"TENON_XYZZY", "1"}})),
                ElementsAre("env TENON_WEB_PROT: there is no option TENON_WEB_PROT; did you mean "
                            "TENON_WEB_PORT?",
                            "env TENON_STORE_PASSWORT_FILE: there is no option "
                            "TENON_STORE_PASSWORT_FILE; did you mean TENON_STORE_PASSWORD_FILE?",
                            "env TENON_XYZZY: there is no option TENON_XYZZY."));
}

TEST(Config, UnknownFlagsAreRefused) {
    ConfigSources sources;
    sources.flags = {{"--set web.prot", "web.prot", "1"}};
    EXPECT_THAT(problems(sources), ElementsAre("flag --set web.prot: there is no option web.prot; "
                                               "did you mean web.port?"));
}

TEST(Config, BadValuesSayWhatIsThereAndWhatWasExpected) {
    EXPECT_THAT(
        problems(from_toml("[web]\nport = 65536\nbody_bytes_max = \"1KB\"\nidle_timeout = 5\n"
                           "keep_alive = \"yes\"\nmode = \"slow\"\naddresses = [1]\n"
                           "ratio = nan\nseed = -1\n")),
        ElementsAre("t.toml:2: web.port is 65536; expected an integer, from 0 to 65535.",
                    "t.toml:3: web.body_bytes_max is \"1KB\"; expected a number of bytes such as "
                    "65536, 64KiB or 1MiB, from 1KiB to 64MiB.",
                    "t.toml:4: web.idle_timeout is 5; expected a duration such as 250ms, 5s or "
                    "24h, from 1ms to 1h.",
                    "t.toml:5: web.keep_alive is \"yes\"; expected true or false.",
                    "t.toml:6: web.mode is \"slow\"; expected one of: fast, safe.",
                    "t.toml:7: web.addresses is a list with other things than texts; expected a "
                    "list of texts.",
                    "t.toml:8: web.ratio is nan; expected a number.",
                    "t.toml:9: web.seed is -1; expected an integer, from 0 to "
                    "18446744073709551615."));
}

TEST(Config, BoundsHoldAtTheirEdges) {
    const auto is_accepted = [](const std::string& line) {
        return load_config<TestConfig>(from_toml("[web]\n" + line)).has_value();
    };
    EXPECT_TRUE(is_accepted("idle_timeout = \"1h\""));
    EXPECT_FALSE(is_accepted("idle_timeout = \"61m\""));
    EXPECT_FALSE(is_accepted("idle_timeout = \"0\""));
    EXPECT_FALSE(is_accepted("idle_timeout = \"1500us\""));
    EXPECT_TRUE(is_accepted("body_bytes_max = 1024"));
    EXPECT_FALSE(is_accepted("body_bytes_max = 1023"));
    EXPECT_FALSE(is_accepted("port = \"80\""));
}

TEST(Config, SecretsAreInNoErrorAndNoOutput) {
    const auto lines = problems(from_toml("[store]\npassword = 424242\n[web.tls]\nkey = 434343\n"));
    EXPECT_THAT(lines, ElementsAre("t.toml:2: store.password is ********; expected a text.",
                                   "t.toml:4: web.tls.key is ********; expected a text."));
    const auto loaded = load_config<TestConfig>(
        from_toml("[store]\npassword = \"p1\"\nconninfo = \"postgres://u:p2@h/d\"\n"
                  "[web.tls]\nkey = \"p3\"\n"));
    ASSERT_TRUE(loaded) << loaded.error().detail();
    for (const std::string& text :
         {show_config_text(loaded->states), show_config_json(loaded->states)}) {
        for (const char* secret : {"p1", "p2", "p3"}) EXPECT_THAT(text, Not(HasSubstr(secret)));
    }
}

TEST(Config, WhatIsNotTomlIsOneSentenceWithItsPlace) {
    EXPECT_THAT(problems(from_toml("name = \"x\"\n[web\nport = 1\n")).front(),
                HasSubstr("t.toml:2:5: this is not TOML: "));
    EXPECT_EQ(problems(from_toml("name = \"x\"\nname = \"y\"\n")).size(), 1U);
    EXPECT_EQ(problems(from_toml("\xff")).size(), 1U);
}

TEST(Config, AFileThatCannotBeReadSaysWhy) {
    const auto file = read_config_file("/nowhere/tenon.toml");
    ASSERT_FALSE(file);
    EXPECT_EQ(file.error().detail(),
              "/nowhere/tenon.toml cannot be read: No such file or directory");
    EXPECT_THAT(read_config_file("/").error().detail(), HasSubstr("cannot be read"));
    const TempFile good("name = \"x\"");
    EXPECT_EQ(read_config_file(good.path())->text, "name = \"x\"");
}

TEST(Config, ShowListsEveryOptionWithValueAndOrigin) {
    const auto loaded = load_config<TestConfig>(from_toml("[web]\nidle_timeout = \"5s\"\n"));
    const std::string text = show_config_text(loaded->states);
    EXPECT_THAT(text, HasSubstr("web.idle_timeout     \"5s\"                  t.toml:2\n"));
    EXPECT_THAT(text, HasSubstr("web.seed             (not set)             default\n"));
    const auto json = boost::json::parse(show_config_json(loaded->states)).as_array();
    ASSERT_EQ(json.size(), 14U);
    EXPECT_EQ(json[1].as_object().at("option").as_string(), "web.addresses");
    EXPECT_EQ(json[1].as_object().at("value").as_string(), R"(["127.0.0.1", "::1"])");
}

TEST(Config, TheDefaultFileChangesNothingAndMayBeUncommented) {
    const OptionList& list = options_of<TestConfig>();
    const std::string text = default_config(list);
    EXPECT_TRUE(load_config<TestConfig>(from_toml(text)));
    std::string uncommented;
    std::string line;
    for (std::istringstream all(text); std::getline(all, line);) {
        const bool is_option = line.starts_with('#') && !line.starts_with("##");
        // An option without a default has no value to set.
        if (is_option && line.ends_with('=')) continue;
        uncommented += (is_option ? line.substr(1) : line) + "\n";
        EXPECT_LE(line.size(), 100U);
    }
    const auto loaded = load_config<TestConfig>(from_toml(uncommented));
    ASSERT_TRUE(loaded) << loaded.error().detail() << uncommented;
    for (const OptionState& state : loaded->states) {
        EXPECT_EQ(state.origin == "default", state.option->path == "web.seed");
    }
    EXPECT_EQ(loaded->values.web.idle_timeout, WebOptions().idle_timeout);
}

TEST(Config, DocumentsNameEveryOption) {
    const OptionList& list = options_of<TestConfig>();
    const std::string page = document_config(list);
    const auto json = boost::json::parse(document_config_json(list)).as_array();
    ASSERT_EQ(json.size(), list.options.size());
    for (const Option& option : list.options) {
        EXPECT_THAT(page, HasSubstr("`" + option.path + "`"));
        EXPECT_THAT(page, HasSubstr("`" + option.environment + "`"));
    }
    EXPECT_THAT(page, HasSubstr("Either \\| or."));
    EXPECT_THAT(page, HasSubstr("## web.tls\n\nCertificates.\n"));
    EXPECT_EQ(json[3].as_object().at("type").as_string(), "bytes");
    EXPECT_EQ(json[3].as_object().at("default").as_string(), "\"1MiB\"");
}

TEST(Config, CheckTellsAllProblemsInBothForms) {
    const auto loaded = load_config<TestConfig>(from_toml("a = 1\nb = 2\n"));
    EXPECT_EQ(check_config_text(loaded.error()),
              "t.toml:1: there is no option a.\nt.toml:2: there is no option b.\n");
    EXPECT_EQ(check_config_json(&loaded.error()),
              R"({"ok":false,"problems":[{"place":"t.toml:1","problem":"there is no option a"},)"
              R"({"place":"t.toml:2","problem":"there is no option b"}]})");
    EXPECT_EQ(check_config_json(nullptr), R"({"ok":true,"problems":[]})");
}

TEST(Config, TheProcessEnvironmentIsFiltered) {
    ::setenv("TENON_WEB_PORT", "99", 1);
    const auto variables = tenon_environment();
    ::unsetenv("TENON_WEB_PORT");
    EXPECT_THAT(variables,
                ::testing::Contains(std::pair<std::string, std::string>{"TENON_WEB_PORT", "99"}));
    for (const auto& [name, value] : variables) EXPECT_TRUE(name.starts_with("TENON_"));
}

}  // namespace
}  // namespace tenon::runtime
