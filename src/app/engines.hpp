// The private PostgreSQL and Redis of `tenon dev`: started, watched, restarted, stopped.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>

#include "app/data_folder.hpp"
#include "app/process.hpp"

namespace tenon::app {

/// A PostgreSQL of one's own, on a Unix socket only.
///
/// Shape:   data in FOLDER/NAME; `port` tells the sockets of several apart; superuser `postgres`
///          for set-up, plain owner `tenon` of the database `tenon` for everything else. What an
///          earlier run left is ended first.
/// Threads: the main thread (see Program).
/// Errors:  CommandError in one sentence: no PostgreSQL on this machine, data of another major
///          version (never touched), data that was there and is missing (never made anew: its rows
///          would be gone without a word), a full disk, does not start (with the last lines of its
///          log).
class PrivatePostgres {
public:
    struct Options {
        std::string name = "postgres";
        int port = 5432;
    };
    PrivatePostgres(const DataFolder& folder, Options options);
    /// Makes the cluster when there is none, ends leftovers, starts, and returns when it answers.
    void start();
    /// True when it is not running any more; its orphans may be.
    [[nodiscard]] bool has_ended();
    /// Fast shutdown, then immediate, within `limit`.
    void stop(std::chrono::milliseconds limit);

    [[nodiscard]] int descriptor() const { return program_->descriptor(); }
    [[nodiscard]] std::string conninfo() const;
    [[nodiscard]] const std::string& name() const { return options_.name; }
    [[nodiscard]] const std::string& how_it_ended() const { return program_->how_it_ended(); }

private:
    void make_cluster();
    void check_version() const;
    void check_not_lost() const;
    [[noreturn]] void fail(const std::string& what, const std::string& log) const;
    void end_leftovers() const;
    void launch();
    void wait_until_ready();
    void make_owner() const;
    [[nodiscard]] std::string set_up_conninfo() const;
    [[nodiscard]] std::filesystem::path program(const std::string& name) const;

    const DataFolder& folder_;
    const Options options_;
    std::filesystem::path data_;
    std::filesystem::path binaries_;
    std::optional<Program> program_;
};

/// A Redis of one's own, on a Unix socket only, without persistence: what it holds may be lost.
class PrivateRedis {
public:
    explicit PrivateRedis(const DataFolder& folder);
    [[nodiscard]] std::string name() const { return "redis"; }
    void start();
    [[nodiscard]] bool has_ended();
    void stop(std::chrono::milliseconds limit);

    [[nodiscard]] int descriptor() const { return program_->descriptor(); }
    [[nodiscard]] std::string address() const;
    [[nodiscard]] const std::string& how_it_ended() const { return program_->how_it_ended(); }

private:
    [[nodiscard]] std::filesystem::path socket() const { return folder_.sockets() / "redis.sock"; }

    const DataFolder& folder_;
    std::filesystem::path data_;
    std::optional<Program> program_;
};

}  // namespace tenon::app
