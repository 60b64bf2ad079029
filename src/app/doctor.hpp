// What `tenon doctor` knows of a deployment, and what it makes of it.
#pragma once

#include <boost/describe.hpp>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "storage/lock_room.hpp"
#include "storage/record.hpp"

namespace tenon::app {

/// A PostgreSQL node as it answered.
struct PostgresFacts {
    std::string node;
    std::string
        unreachable;  ///< why it did not answer; empty when it did, else nothing below counts
    int version = 0;  ///< server_version_num, such as 150014
    bool fsync = true;
    bool full_page_writes = true;
    std::string synchronous_commit = "on";
    std::string wal_level = "logical";
    std::string encoding = "UTF8";
    storage::LockTable locks;
    std::int64_t reserved_connections = 3;  ///< for superusers only
    std::string role = "tenon";
    bool is_superuser = false;
    bool owns_database = true;
    bool is_remote = false;
    bool is_encrypted = false;
    /// How far its clock is ahead of this machine's, and how far that may be wrong.
    std::chrono::microseconds ahead{0};
    std::chrono::microseconds ahead_error{0};
    storage::SchemaState schema;
};

/// Redis or Valkey as it answered.
struct RedisFacts {
    std::string unreachable;  ///< why it did not answer; empty when it did
    std::string name = "Redis";
    std::string version = "7.0.0";
    std::int64_t bytes_max = 0;  ///< maxmemory; 0: no bound
    std::string eviction = "noeviction";
    bool appends = false;              ///< appendonly
    std::optional<std::string> saves;  ///< the `save` setting; nullopt when it may not be asked
    bool save_failed = false;
};

/// This machine, and what is configured on it.
struct MachineFacts {
    std::optional<std::string> folder;  ///< of a running `tenon dev`
    std::int64_t disk_free = 0;         ///< bytes for this user, where the folder lies
    std::int64_t disk_size = 0;
    std::int64_t files_max = 0;  ///< how many files a process may have open
    std::int64_t connections_max = 0;
    std::int64_t cores = 1;
    std::int64_t connections_per_core = 10;  ///< to one PostgreSQL node
    std::vector<std::string> addresses;      ///< where http listens
    bool speaks_tls = false;
};

/// What the server answered at /readyz.
struct ServerFacts {
    std::string url;
    bool expected = false;  ///< a `tenon dev` says that it runs
    long status = 0;        ///< 0: nothing answered
    std::string body;
    std::string why_none;
};

/// All that was gathered; the checks read nothing else.
struct DoctorFacts {
    std::vector<PostgresFacts> nodes;
    RedisFacts redis;
    MachineFacts machine;
    ServerFacts server;
};

/// How much a finding matters.
enum class Severity : std::uint8_t {
    ok,
    info,     ///< worth knowing; nothing is wrong
    warning,  ///< will hurt under load, at a failure, or somebody else
    failure,  ///< does not work, or loses data
};
BOOST_DESCRIBE_ENUM(Severity, ok, info, warning, failure)

/// A line of `tenon doctor`.
struct Finding {
    std::string id;  ///< stable: "postgres.fsync"
    Severity severity = Severity::ok;
    std::optional<std::string> node;  ///< of PostgreSQL
    std::string evidence;
    std::optional<std::string> fix;  ///< unless ok
};
BOOST_DESCRIBE_STRUCT(Finding, (), (id, severity, node, evidence, fix))

/// A finding without a node; one that is ok has no fix.
[[nodiscard]] Finding make_finding(const char* id, Severity severity, std::string evidence,
                                   std::string fix);

/// Judges one node. Pure; an unreachable node has that finding only.
[[nodiscard]] std::vector<Finding> judge_postgres(const PostgresFacts& node,
                                                  const MachineFacts& machine);
/// Judges the schema of one node. Pure.
[[nodiscard]] std::vector<Finding> judge_schema(const PostgresFacts& node);
/// Judges Redis. Pure.
[[nodiscard]] std::vector<Finding> judge_redis(const RedisFacts& redis);
/// Judges this machine and its configuration. Pure.
[[nodiscard]] std::vector<Finding> judge_machine(const MachineFacts& machine);
/// Judges what the server says of itself. Pure.
[[nodiscard]] std::vector<Finding> judge_server(const ServerFacts& server);

/// All findings, in the order in which one would look. Pure.
[[nodiscard]] std::vector<Finding> diagnose(const DoctorFacts& facts);
/// The worst of them; ok when there is none.
[[nodiscard]] Severity worst_of(const std::vector<Finding>& findings);

}  // namespace tenon::app
