#include <fmt/format.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>

#include "app/engines.hpp"

namespace tenon::app {

namespace fs = std::filesystem;

namespace {

constexpr auto start_limit = std::chrono::seconds(10);

bool accepts_connections(const fs::path& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.string().size() >= sizeof address.sun_path) return false;
    std::memcpy(address.sun_path, path.c_str(), path.string().size());
    const int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0) return false;
    const int connected =
        connect(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address);
    close(descriptor);
    return connected == 0;
}

fs::path find_redis() {
    for (const char* name : {"redis-server", "valkey-server"}) {
        auto found = find_program(name, {"/usr/bin", "/usr/local/bin"});
        if (!found.empty()) return found;
    }
    throw CommandError(
        "Redis is not installed (looked for redis-server and valkey-server in PATH); install it "
        "with: apt-get install redis-server");
}

}  // namespace

PrivateRedis::PrivateRedis(const DataFolder& folder)
    : folder_(folder), data_(folder.engines() / "redis") {}

std::string PrivateRedis::address() const {
    return fmt::format("unix:{}", socket().string());
}

void PrivateRedis::start() {
    make_folder(data_, folder_.account());
    end_processes_in(data_, SIGTERM, std::chrono::milliseconds(500));
    std::error_code ignored;
    fs::remove(socket(), ignored);
    const ProgramSpec spec{
        .arguments = {find_redis(), "--port", "0", "--unixsocket", socket(), "--unixsocketperm",
                      "700", "--dir", data_, "--save", "", "--appendonly", "no", "--daemonize",
                      "no", "--loglevel", "warning"},
        .folder = data_,
        .log = folder_.log("redis"),
        .account = folder_.account()};
    program_ = Program::start(spec);
    const auto until = std::chrono::steady_clock::now() + start_limit;
    while (!accepts_connections(socket())) {
        const bool ended = program_->wait(std::chrono::milliseconds(10));
        if (ended || std::chrono::steady_clock::now() > until) {
            throw CommandError(fmt::format("the private Redis does not start ({}):\n{}",
                                           program_->how_it_ended(),
                                           last_lines(folder_.log("redis"), 5)));
        }
    }
}

bool PrivateRedis::has_ended() {
    return program_->wait(std::chrono::milliseconds(0));
}

void PrivateRedis::stop(std::chrono::milliseconds limit) {
    if (!program_) return;
    program_->send(SIGTERM);
    if (!program_->wait(limit)) {
        program_->send(SIGKILL);
        program_->wait(std::chrono::seconds(2));
    }
}

}  // namespace tenon::app
