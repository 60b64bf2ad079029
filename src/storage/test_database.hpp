// Databases for tests (*_pg_test.cpp of this room and of those below it), each empty and its own.
#pragma once

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "storage/fences.hpp"
#include "storage/map.hpp"
#include "storage/migrate.hpp"
#include "storage/session.hpp"

namespace tenon::storage {

/// The room's own migrations, then others that a test or a room below adds.
inline std::vector<Migration> own_migrations_and(std::span<const Migration> more) {
    std::vector<Migration> all{migrations().begin(), migrations().end()};
    all.insert(all.end(), more.begin(), more.end());
    return all;
}

/// A database made for one test and dropped with it.
///
/// Expects: TENON_TEST_POSTGRES names a server and a role that may create databases, as
///          scripts/with-engines does.
class TestDatabase {
public:
    TestDatabase() {
        static int made = 0;
        name_ = fmt::format("tenon_test_{}_{}", ::getpid(), ++made);
        Session(spec("server", server())).run("CREATE DATABASE " + name_);
    }
    ~TestDatabase() {
        try {
            Session(spec("server", server()))
                .run("DROP DATABASE IF EXISTS " + name_ + " WITH (FORCE)");
        } catch (const std::exception& failure) {
            fmt::print(stderr, "{} stays behind: {}\n", name_, failure.what());
        }
    }
    TestDatabase(const TestDatabase&) = delete;
    TestDatabase& operator=(const TestDatabase&) = delete;

    [[nodiscard]] std::string conninfo() const {
        return fmt::format("{} dbname={}", server(), name_);
    }
    [[nodiscard]] Map::NodeSpec node() const { return {.name = name_, .conninfo = conninfo()}; }
    [[nodiscard]] Session connect() const { return Session(spec(name_, conninfo())); }

    /// Throws the error's detail.
    void migrate(std::span<const Migration> files) const {
        const std::vector nodes{node()};
        if (auto done = storage::migrate(nodes, files); !done) {
            throw std::runtime_error(done.error().detail());
        }
    }
    /// Migrates and fills the fences of a map with this node alone.
    [[nodiscard]] Map prepare(std::span<const Migration> files) const {
        migrate(files);
        Map map = Map::spread({node()});
        fill_fences(map);
        return map;
    }

private:
    static Session::Options spec(std::string node, std::string conninfo) {
        return {.node = std::move(node), .conninfo = std::move(conninfo)};
    }
    static std::string server() {
        const char* conninfo = std::getenv("TENON_TEST_POSTGRES");
        if (conninfo == nullptr) {
            throw std::runtime_error(
                "TENON_TEST_POSTGRES is not set: run this test by scripts/with-engines");
        }
        return conninfo;
    }

    std::string name_;
};

}  // namespace tenon::storage
