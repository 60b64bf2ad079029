#include "app/data_folder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

#include "base/hash.hpp"

namespace tenon::app {

namespace fs = std::filesystem;

namespace {

/// "/.s.PGSQL.5432" and the terminating NUL must fit behind it.
constexpr std::size_t socket_folder_max = 107 - 15;

std::string reason(int error) {
    return std::generic_category().message(error);
}

std::string short_hash(const fs::path& path) {
    const auto hash = base::hash64(path.string());
    return fmt::format("{:016x}", hash);
}

std::string owner_of_lock(const fs::path& lock) {
    const auto pid = read_file(lock).value_or("");
    return pid.empty() ? "another process" : fmt::format("process {}", pid);
}

int take_lock(const fs::path& lock) {
    const int descriptor = open(lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (descriptor < 0) {
        throw CommandError(fmt::format("cannot write {}: {}; choose another folder with --data",
                                       lock.string(), reason(errno)));
    }
    if (flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
        const auto owner = owner_of_lock(lock);
        close(descriptor);
        throw CommandError(
            fmt::format("{} is in use by {}; stop that one or choose another folder with --data",
                        lock.parent_path().string(), owner));
    }
    return descriptor;
}

void note_owner(int lock) {
    const auto pid = std::to_string(getpid());
    if (ftruncate(lock, 0) != 0 || write(lock, pid.data(), pid.size()) < 0) {
        throw CommandError(fmt::format("cannot write the lock file: {}", reason(errno)));
    }
}

/// True when an account may pass through every parent of a folder.
bool can_reach(const fs::path& path, const Account& account) {
    for (auto folder = path.parent_path();; folder = folder.parent_path()) {
        struct stat facts{};
        if (stat(folder.c_str(), &facts) != 0) return false;
        const bool owner = facts.st_uid == account.user && (facts.st_mode & S_IXUSR) != 0;
        const bool group = facts.st_gid == account.group && (facts.st_mode & S_IXGRP) != 0;
        if (!owner && !group && (facts.st_mode & S_IXOTH) == 0) return false;
        if (folder == folder.root_path()) return true;
    }
}

/// Nobody else may have laid a folder of that name under /tmp before us: it is this user's, or the
/// engines' account's since an earlier run, and a stranger cannot replace it from here on.
void check_private(const fs::path& path, const std::optional<Account>& account) {
    struct stat facts{};
    const bool exists = lstat(path.c_str(), &facts) == 0 && S_ISDIR(facts.st_mode);
    const bool ours = facts.st_uid == geteuid() || (account && facts.st_uid == account->user);
    if (!exists || !ours || (facts.st_mode & 0077) != 0) {
        throw CommandError(fmt::format(
            "{} exists and is not a private folder of this user; remove it", path.string()));
    }
}

}  // namespace

void make_folder(const fs::path& path, const std::optional<Account>& account) {
    std::error_code error;
    fs::create_directories(path.parent_path(), error);
    if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) {
        throw CommandError(fmt::format("cannot make {}: {}", path.string(), reason(errno)));
    }
    if (account && chown(path.c_str(), account->user, account->group) != 0) {
        throw CommandError(
            fmt::format("cannot give {} to {}: {}", path.string(), account->name, reason(errno)));
    }
}

DataFolder DataFolder::open(const fs::path& path) {
    std::error_code error;
    fs::create_directories(path, error);
    if (error) {
        throw CommandError(fmt::format("cannot make {}: {}; choose another folder with --data",
                                       path.string(), error.message()));
    }
    const auto real = fs::canonical(path);
    const int lock = take_lock(real / "lock");
    note_owner(lock);
    DataFolder folder(real, lock);
    folder.place_engines();
    folder.place_sockets();
    make_folder(real / "log", std::nullopt);
    return folder;
}

DataFolder::DataFolder(fs::path path, int lock)
    : path_(std::move(path)), lock_(lock), account_(engine_account()) {}

DataFolder::DataFolder(DataFolder&& other) noexcept
    : path_(std::move(other.path_)),
      lock_(std::exchange(other.lock_, -1)),
      account_(std::move(other.account_)),
      engines_(std::move(other.engines_)),
      sockets_(std::move(other.sockets_)) {}

DataFolder::~DataFolder() {
    if (lock_ >= 0) close(lock_);
}

fs::path DataFolder::log(const std::string& name) const {
    return path_ / "log" / (name + ".log");
}

void DataFolder::place_engines() {
    engines_ = path_;
    if (account_ && !can_reach(path_ / "x", *account_)) {
        engines_ = fs::path("/var/lib/tenon") / ("dev-" + short_hash(path_));
        make_folder(engines_, account_);
    }
    write_file(path_ / "where", engines_.string() + "\n");
}

void DataFolder::place_sockets() {
    sockets_ = engines_ / "run";
    const auto text = sockets_.string();
    // A path with other characters would have to be quoted in three ways by those who are told it.
    const bool is_plain = std::ranges::all_of(text, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '/' || c == '.' || c == '-' || c == '_';
    });
    if (text.size() > socket_folder_max || !is_plain) {
        sockets_ = fs::path("/tmp") / ("tenon-" + short_hash(path_));
        make_folder(sockets_, std::nullopt);
        check_private(sockets_, account_);  // before it is given away, which follows a link
    }
    make_folder(sockets_, account_);
}

void write_file(const fs::path& path, const std::string& content) {
    const auto draft = path.string() + ".new";
    const int file = ::open(draft.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    bool written =
        file >= 0 &&
        ::write(file, content.data(), content.size()) == static_cast<ssize_t>(content.size()) &&
        fsync(file) == 0;
    int failure = errno;
    if (file >= 0) close(file);
    if (written && rename(draft.c_str(), path.c_str()) != 0) {
        failure = errno;
        written = false;
    }
    if (!written) {
        throw CommandError(fmt::format("cannot write {}: {}", path.string(), reason(failure)));
    }
}

std::optional<std::string> read_file(const fs::path& path) {
    std::ifstream file(path);
    if (!file) return std::nullopt;
    return std::string(std::istreambuf_iterator<char>(file), {});
}

}  // namespace tenon::app
