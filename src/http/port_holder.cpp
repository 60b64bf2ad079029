#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

#include "http/listener.hpp"

namespace tenon::http {

namespace {

namespace fs = std::filesystem;

// The inode of the socket that listens on a port, from /proc/net/tcp or tcp6; empty if none does.
std::string inode_of_listener(const char* table, std::uint16_t port) {
    constexpr std::string_view listening = "0A";
    std::ifstream file(table);
    std::string line;
    std::getline(file, line);
    const std::string wanted = fmt::format(":{:04X}", port);
    while (std::getline(file, line)) {
        std::istringstream columns(line);
        std::string number, local, remote, state, queues, timer, retries, user, timeout, inode;
        columns >> number >> local >> remote >> state >> queues >> timer >> retries >> user >>
            timeout >> inode;
        if (state == listening && local.ends_with(wanted)) return inode;
    }
    return {};
}

bool holds_socket(const fs::path& process, const std::string& link) {
    std::error_code failure;
    for (const auto& entry : fs::directory_iterator(process / "fd", failure)) {
        std::error_code unreadable;
        if (fs::read_symlink(entry.path(), unreadable) == link) return true;
    }
    return false;
}

std::string name_of_process(const fs::path& process) {
    std::string name;
    std::ifstream file(process / "comm");
    std::getline(file, name);
    return name;
}

}  // namespace

std::string holder_of_port(std::uint16_t port) {
    std::string inode = inode_of_listener("/proc/net/tcp", port);
    if (inode.empty()) inode = inode_of_listener("/proc/net/tcp6", port);
    if (inode.empty()) return {};
    const std::string link = "socket:[" + inode + "]";
    std::error_code failure;
    for (const auto& entry : fs::directory_iterator("/proc", failure)) {
        const std::string number = entry.path().filename();
        if (number.find_first_not_of("0123456789") != std::string::npos) continue;
        if (holds_socket(entry.path(), link)) {
            return fmt::format("pid {} ({})", number, name_of_process(entry.path()));
        }
    }
    return {};
}

}  // namespace tenon::http
