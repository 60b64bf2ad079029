#include "app/log_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "app/data_folder.hpp"
#include "base/assert.hpp"

namespace tenon::app {

namespace fs = std::filesystem;

namespace {

int open_to_append(const fs::path& path) {
    return ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

fs::path numbered(const fs::path& path, int number) {
    return fmt::format("{}.{}", path.string(), number);
}

}  // namespace

LogFile::LogFile(fs::path path, Options options) : path_(std::move(path)), options_(options) {
    TENON_ASSERT(options_.kept >= 1);
}

int LogFile::open() const {
    if (is_full()) shift();
    const int descriptor = open_to_append(path_);
    if (descriptor < 0) {
        throw CommandError(fmt::format("cannot write {}: {}", path_.string(),
                                       std::generic_category().message(errno)));
    }
    return descriptor;
}

void LogFile::turn(std::span<const int> descriptors) const {
    // Missing: it was shifted, and no new one could be made at that look.
    std::error_code unknown;
    if (fs::exists(path_, unknown)) {
        if (!is_full()) return;
        shift();
    }
    const int fresh = open_to_append(path_);
    if (fresh < 0) return;
    // Each is replaced at once: who writes at that moment reaches one file or the other.
    for (const int descriptor : descriptors) ::dup2(fresh, descriptor);
    ::close(fresh);
}

bool LogFile::is_full() const {
    std::error_code missing;
    const auto bytes = fs::file_size(path_, missing);
    return !missing && bytes >= options_.bytes_max;
}

// A name that cannot be changed leaves the file where it is: better too long than lost.
void LogFile::shift() const {
    std::error_code refused;
    for (int number = options_.kept; number > 1; --number) {
        fs::rename(numbered(path_, number - 1), numbered(path_, number), refused);
    }
    fs::rename(path_, numbered(path_, 1), refused);
}

}  // namespace tenon::app
