#include "storage/map_record.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "runtime/json.hpp"
#include "storage/errors.hpp"

namespace tenon::storage {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

MapRecord record() {
    MapRecord made{.version = 7,
                   .nodes = {{.name = "n1", .conninfo = "host=a"}, {.name = "n2", .conninfo = "b"}},
                   .owners = {},
                   .epochs = {}};
    for (std::int32_t bucket = 0; bucket < 2'048; ++bucket) {
        made.owners.push_back(bucket % 2);
        made.epochs.push_back(1 + bucket % 3);
    }
    return made;
}

std::string refusal_of(const MapRecord& record) {
    const auto read = read_map(runtime::to_json(record));
    return read ? "" : read.error().detail();
}

class Folder : public testing::Test {
protected:
    Folder() : path_(fs::temp_directory_path() / ("tenon-map-" + std::to_string(::getpid()))) {}
    ~Folder() override { fs::remove_all(path_); }
    const fs::path path_;
};

TEST(MapRecord, ComesBackAsItWasWritten) {
    const auto read = read_map(runtime::to_json(record()));
    ASSERT_TRUE(read);
    const Map map = map_of(*read);
    EXPECT_EQ(map.spaces_total(), 2U);
    EXPECT_EQ(map.nodes()[1].name, "n2");
    EXPECT_EQ(map.place_of({1'025}).node.index, 1U);
    EXPECT_EQ(map.place_of({1'025}).epoch, 1 + 1'025 % 3);
}

TEST(MapRecord, RefusesWhatIsNoMap) {
    EXPECT_THAT(read_map("{").error().detail(), HasSubstr("cannot be read"));
    auto bad = record();
    bad.nodes[1].name = "n1";
    EXPECT_THAT(refusal_of(bad), HasSubstr("names node n1 twice"));
    bad = record();
    bad.nodes.clear();
    EXPECT_THAT(refusal_of(bad), HasSubstr("names no node"));
    bad = record();
    bad.owners.pop_back();
    EXPECT_THAT(refusal_of(bad), HasSubstr("no whole spaces"));
    bad = record();
    bad.epochs.pop_back();
    EXPECT_THAT(refusal_of(bad), HasSubstr("an epoch to each bucket"));
    bad = record();
    bad.owners[5] = 2;
    EXPECT_THAT(refusal_of(bad), HasSubstr("a node that it does not name"));
    bad = record();
    bad.epochs[5] = 0;
    EXPECT_THAT(refusal_of(bad), HasSubstr("an epoch below 1"));
}

TEST_F(Folder, KeepsTheMapForItsOwnerAlone) {
    EXPECT_EQ(*read_kept_map(path_), std::nullopt);
    write_map(path_, record());
    auto newer = record();
    newer.version = 8;
    write_map(path_, newer);
    EXPECT_EQ((*read_kept_map(path_))->version, 8);
    struct stat facts{};
    ASSERT_EQ(::stat((path_ / "map.json").c_str(), &facts), 0);
    EXPECT_EQ(facts.st_mode & 0777U, 0600U);
}

TEST_F(Folder, AKeptMapThatIsBrokenIsSaid) {
    write_map(path_, record());
    fs::resize_file(path_ / "map.json", 100);
    const auto read = read_kept_map(path_);
    ASSERT_FALSE(read);
    EXPECT_TRUE(read.error().is(errors::map_invalid));
    EXPECT_THAT(read.error().detail(), HasSubstr("map.json"));
}

}  // namespace
}  // namespace tenon::storage
