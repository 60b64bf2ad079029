#include "storage/map_record.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <set>
#include <sstream>
#include <system_error>
#include <utility>

#include "runtime/json.hpp"
#include "storage/errors.hpp"

namespace tenon::storage {

namespace fs = std::filesystem;

namespace {

constexpr const char* file_name = "map.json";

std::unexpected<base::Error> refuse(std::string why) {
    return base::fail(errors::map_invalid, std::move(why));
}

base::Result<> check_nodes(const MapRecord& record) {
    std::set<std::string_view> names;
    for (const NodeRecord& node : record.nodes) {
        if (!names.insert(node.name).second) {
            return refuse(fmt::format("the map names node {} twice", node.name));
        }
    }
    if (names.empty()) {
        return refuse("the map names no node");
    }
    return {};
}

base::Result<> check_buckets(const MapRecord& record) {
    if (record.owners.empty() || record.owners.size() % base::slots_total != 0) {
        return refuse(
            fmt::format("the map has {} buckets, which are no whole spaces", record.owners.size()));
    }
    if (record.epochs.size() != record.owners.size()) {
        return refuse("the map does not give an epoch to each bucket");
    }
    const auto nodes = static_cast<std::int32_t>(record.nodes.size());
    const auto is_node = [nodes](std::int32_t owner) { return owner >= 0 && owner < nodes; };
    if (!std::ranges::all_of(record.owners, is_node)) {
        return refuse("the map gives a bucket to a node that it does not name");
    }
    if (!std::ranges::all_of(record.epochs, [](std::int64_t epoch) { return epoch > 0; })) {
        return refuse("the map has an epoch below 1");
    }
    return {};
}

void throw_errno(const fs::path& path) {
    throw std::system_error(errno, std::generic_category(), path.string());
}

/// Open for writing, by this account alone; closed with it.
class NewFile {
public:
    explicit NewFile(fs::path path)
        : path_(std::move(path)),
          descriptor_(::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)) {
        if (descriptor_ < 0) {
            throw_errno(path_);
        }
    }
    ~NewFile() { ::close(descriptor_); }
    NewFile(const NewFile&) = delete;
    NewFile& operator=(const NewFile&) = delete;

    void write_whole(std::string_view text) const {
        while (!text.empty()) {
            const ssize_t count = ::write(descriptor_, text.data(), text.size());
            if (count < 0 && errno != EINTR) {
                throw_errno(path_);
            }
            text.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
        }
        if (::fsync(descriptor_) != 0) {
            throw_errno(path_);
        }
    }

private:
    fs::path path_;
    int descriptor_;
};

}  // namespace

base::Result<MapRecord> read_map(std::string_view json) {
    auto record = runtime::from_json<MapRecord>(json);
    if (!record) {
        return refuse("the map cannot be read: " + record.error().detail());
    }
    if (auto checked = check_nodes(*record); !checked) {
        return std::unexpected(checked.error());
    }
    if (auto checked = check_buckets(*record); !checked) {
        return std::unexpected(checked.error());
    }
    return record;
}

Map map_of(const MapRecord& record) {
    std::vector<Map::NodeSpec> nodes;
    nodes.reserve(record.nodes.size());
    for (const NodeRecord& node : record.nodes) {
        nodes.push_back({.name = node.name, .conninfo = node.conninfo});
    }
    std::vector<Map::Place> places;
    places.reserve(record.owners.size());
    for (std::size_t bucket = 0; bucket < record.owners.size(); ++bucket) {
        places.push_back({.node = {static_cast<std::uint32_t>(record.owners[bucket])},
                          .epoch = record.epochs[bucket]});
    }
    return Map::of(std::move(nodes), std::move(places));
}

void write_map(const fs::path& folder, const MapRecord& record) {
    fs::create_directories(folder);
    const auto draft = folder / (std::string(file_name) + ".new");
    NewFile(draft).write_whole(runtime::to_json(record) + "\n");
    fs::rename(draft, folder / file_name);
    const int parent = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (parent < 0) {
        throw_errno(folder);
    }
    ::fsync(parent);
    ::close(parent);
}

base::Result<std::optional<MapRecord>> read_kept_map(const fs::path& folder) {
    std::ifstream file(folder / file_name);
    if (!file) {
        return std::nullopt;
    }
    std::ostringstream text;
    text << file.rdbuf();
    auto record = read_map(text.str());
    if (!record) {
        return refuse(fmt::format("{}: {}; remove it when the control database is up",
                                  (folder / file_name).string(), record.error().detail()));
    }
    return std::move(*record);
}

}  // namespace tenon::storage
