// The folder in which `tenon dev` keeps everything, and who owns it at present.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "app/process.hpp"

namespace tenon::app {

/// An error of a command that is told in one sentence with its mend; exit code 1.
class CommandError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// The data folder, locked for this process.
///
/// Owns:   an flock on FOLDER/lock, so that its owner is known and a crash frees it.
/// Shape:  FOLDER/{lock, where, key, run.json, log/}; engine data in engines(), which is FOLDER
///         itself unless root's account for engines cannot reach it, and then
///         /var/lib/tenon/dev-HASH; sockets() is short enough for sun_path (107 bytes).
class DataFolder {
public:
    /// Makes the folder when it is missing. Throws CommandError when another process owns it (which
    /// one) or it cannot be written (why).
    static DataFolder open(const std::filesystem::path& path);
    DataFolder(DataFolder&& other) noexcept;
    DataFolder& operator=(DataFolder&&) = delete;
    ~DataFolder();

    [[nodiscard]] const std::filesystem::path& path() const { return path_; }
    [[nodiscard]] const std::filesystem::path& engines() const { return engines_; }
    [[nodiscard]] const std::filesystem::path& sockets() const { return sockets_; }
    [[nodiscard]] const std::optional<Account>& account() const { return account_; }
    [[nodiscard]] std::filesystem::path log(const std::string& name) const;
    [[nodiscard]] std::filesystem::path run_file() const { return path_ / "run.json"; }
    [[nodiscard]] std::filesystem::path key_file() const { return path_ / "key"; }
    [[nodiscard]] std::filesystem::path shards_file() const { return path_ / "shards"; }
    /// True once a start was complete: what is missing from then on was lost, and not yet to come.
    [[nodiscard]] bool is_filled() const { return std::filesystem::exists(key_file()); }

private:
    DataFolder(std::filesystem::path path, int lock);
    void place_engines();
    void place_sockets();

    std::filesystem::path path_;
    int lock_ = -1;
    std::optional<Account> account_;
    std::filesystem::path engines_;
    std::filesystem::path sockets_;
};

/// Makes a folder (and its parents) with mode 0700, owned by `account` when there is one.
void make_folder(const std::filesystem::path& path, const std::optional<Account>& account);

/// Writes a file whole: a reader sees the old content or the new, also after a power cut.
void write_file(const std::filesystem::path& path, const std::string& content);
/// The content of a small file; nullopt when there is none.
[[nodiscard]] std::optional<std::string> read_file(const std::filesystem::path& path);

}  // namespace tenon::app
