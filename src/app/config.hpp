// Everything that can be configured, with its documentation.
#pragma once

#include <boost/describe.hpp>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/config.hpp"
#include "runtime/log.hpp"

namespace tenon::app {

/// [http]
struct HttpSection {
    std::vector<std::string> addresses{"127.0.0.1", "::1"};
    std::uint16_t port = 8080;
    std::string tls_certificate;
    std::string tls_key;
    std::vector<std::string> trusted_proxies;
    std::vector<std::string> cors_origins;
    std::size_t connections_max = 10'000;
    std::size_t body_bytes_max = 1024 * 1024;
    std::size_t bodies_bytes_max = 256 * 1024 * 1024;
    std::size_t header_bytes_max = 16 * 1024;
    std::chrono::milliseconds request_timeout{10'000};
    std::chrono::milliseconds idle_timeout{75'000};
    std::chrono::milliseconds header_timeout{10'000};
    std::chrono::milliseconds body_timeout{30'000};
    std::chrono::milliseconds write_timeout{10'000};
};
BOOST_DESCRIBE_STRUCT(HttpSection, (),
                      (addresses, port, tls_certificate, tls_key, trusted_proxies, cors_origins,
                       connections_max, body_bytes_max, bodies_bytes_max, header_bytes_max,
                       request_timeout, idle_timeout, header_timeout, body_timeout, write_timeout))

/// [postgres]
struct PostgresSection {
    runtime::Secret conninfo{"host=127.0.0.1 port=5432 user=tenon dbname=tenon"};
    runtime::Secret nodes;
    std::string serving_role;
    std::size_t multiplexed = 2;
    std::size_t exclusive_max = 8;
    std::chrono::milliseconds connect_timeout{2'000};
    std::chrono::milliseconds statement_timeout{5'000};
    std::chrono::milliseconds lock_timeout{2'000};
};
BOOST_DESCRIBE_STRUCT(PostgresSection, (),
                      (conninfo, nodes, serving_role, multiplexed, exclusive_max, connect_timeout,
                       statement_timeout, lock_timeout))

/// [redis]
struct RedisSection {
    std::string address = "127.0.0.1:6379";
    std::string username;
    runtime::Secret password;
    std::chrono::milliseconds command_timeout{20};
};
BOOST_DESCRIBE_STRUCT(RedisSection, (), (address, username, password, command_timeout))

/// [links]
struct LinksSection {
    std::string base_url;
    std::size_t cache_bytes = 64 << 20;
    std::chrono::milliseconds cache_ttl{5'000};
    std::chrono::milliseconds unknown_ttl{1'000};
};
BOOST_DESCRIBE_STRUCT(LinksSection, (), (base_url, cache_bytes, cache_ttl, unknown_ttl))

/// [idempotency]
struct IdempotencySection {
    std::chrono::hours retention{24};
};
BOOST_DESCRIBE_STRUCT(IdempotencySection, (), (retention))

/// [process]
struct ProcessSection {
    std::size_t cores = 0;
    std::string state_folder;
    std::chrono::milliseconds shutdown_bound{15'000};
};
BOOST_DESCRIBE_STRUCT(ProcessSection, (), (cores, state_folder, shutdown_bound))

/// [log]
struct LogSection {
    runtime::Level level = runtime::Level::info;
    runtime::LogForm form = runtime::LogForm::automatic;
};
BOOST_DESCRIBE_STRUCT(LogSection, (), (level, form))

/// [trace]
struct TraceSection {
    std::string otlp_endpoint;
    double sample_ratio = 0;
    std::chrono::milliseconds otlp_timeout{5'000};
};
BOOST_DESCRIBE_STRUCT(TraceSection, (), (otlp_endpoint, sample_ratio, otlp_timeout))

/// The whole configuration of `tenon serve`.
struct Config {
    HttpSection http;
    PostgresSection postgres;
    RedisSection redis;
    LinksSection links;
    IdempotencySection idempotency;
    ProcessSection process;
    LogSection log;
    TraceSection trace;
};
BOOST_DESCRIBE_STRUCT(Config, (), (http, postgres, redis, links, idempotency, process, log, trace))

}  // namespace tenon::app

namespace tenon::runtime {

template <>
struct option_docs<app::HttpSection> {
    static constexpr OptionDoc list[] = {
        {.name = "addresses",
         .effect = "Numeric addresses to listen on, all with the same port; ::1 is left out on a "
                   "machine without IPv6, unless it is the only one."},
        {.name = "port", .effect = "Where HTTP is served; 0 takes any free port."},
        {.name = "tls_certificate",
         .effect = "A PEM file with the certificate and those that vouch for it: with it every "
                   "address speaks TLS only; empty speaks plain HTTP. A changed file is taken up "
                   "within a second."},
        {.name = "tls_key",
         .effect = "A PEM file with the certificate's private key, without a passphrase."},
        {.name = "trusted_proxies",
         .effect = "Networks such as 10.0.0.0/8, or addresses, of the proxies whose "
                   "X-Forwarded-For, Forwarded and X-Forwarded-Proto are believed; empty believes "
                   "nobody."},
        {.name = "cors_origins",
         .effect = "Origins such as https://app.example.com whose pages may call the API from a "
                   "browser, or * for all; empty lets none."},
        {.name = "connections_max",
         .effect = "Open connections of the process; one more is answered 503 and closed.",
         .unit = "connections",
         .minimum = 1,
         .maximum = 1'000'000},
        {.name = "body_bytes_max",
         .effect = "The longest request body; a longer one is refused with 413 before it is read.",
         .unit = "bytes",
         .minimum = 1'024,
         .maximum = 64 << 20},
        {.name = "bodies_bytes_max",
         .effect = "Memory for the bodies of all requests in flight; over it requests with a body "
                   "are refused with 503. One body of body_bytes_max is always possible.",
         .unit = "bytes",
         .minimum = 1 << 20,
         .maximum = 1LL << 40},
        {.name = "header_bytes_max",
         .effect = "The longest request head; a longer one is refused with 431.",
         .unit = "bytes",
         .minimum = 1'024,
         .maximum = 1 << 20},
        {.name = "request_timeout",
         .effect = "The deadline of a request that names none by Tenon-Timeout.",
         .minimum = 10,
         .maximum = 300'000},
        {.name = "idle_timeout",
         .effect = "A connection without a request for so long is closed.",
         .minimum = 100,
         .maximum = 3'600'000},
        {.name = "header_timeout",
         .effect = "How long a request's head may take from its first byte.",
         .minimum = 100,
         .maximum = 300'000},
        {.name = "body_timeout",
         .effect = "How long a request's body may take.",
         .minimum = 100,
         .maximum = 600'000},
        {.name = "write_timeout",
         .effect = "A client that reads nothing for so long is dropped.",
         .minimum = 100,
         .maximum = 300'000},
    };
};

template <>
struct option_docs<app::PostgresSection> {
    static constexpr OptionDoc list[] = {
        {.name = "conninfo",
         .effect = "Where the control database is: libpq's keyword/value string or URI, TLS by "
                   "sslmode. A plain owner of the database is enough. It is the only node unless "
                   "it, or nodes, names others.",
         .secret = true},
        {.name = "nodes",
         .effect = "The nodes with which migrate fills an empty control database: NAME: CONNINFO; "
                   "NAME: CONNINFO. Later they only say where the nodes of those names are.",
         .secret = true},
        {.name = "serving_role",
         .effect = "A role to which migrate gives what serve needs and no more: rows, no schema; "
                   "empty: serve runs as the owner."},
        {.name = "multiplexed",
         .effect = "Connections per core that pipelined statements share.",
         .unit = "connections",
         .minimum = 1,
         .maximum = 32},
        {.name = "exclusive_max",
         .effect = "Connections per core for transactions that read before they decide.",
         .unit = "connections",
         .minimum = 1,
         .maximum = 64},
        {.name = "connect_timeout",
         .effect = "How long one attempt to connect may take.",
         .minimum = 50,
         .maximum = 60'000},
        {.name = "statement_timeout",
         .effect = "A statement that runs longer is ended by PostgreSQL.",
         .minimum = 50,
         .maximum = 600'000},
        {.name = "lock_timeout",
         .effect = "A statement that waits longer for a lock is ended by PostgreSQL.",
         .minimum = 50,
         .maximum = 600'000},
    };
};

template <>
struct option_docs<app::RedisSection> {
    static constexpr OptionDoc list[] = {
        {.name = "address", .effect = "Where Redis or Valkey is: host:port, or unix:/path."},
        {.name = "username", .effect = "For AUTH; empty for none."},
        {.name = "password", .effect = "For AUTH; empty for none."},
        {.name = "command_timeout",
         .effect = "A command without an answer by then is given up; what it would have told is "
                   "worth little when late.",
         .minimum = 1,
         .maximum = 10'000},
    };
};

template <>
struct option_docs<app::LinksSection> {
    static constexpr OptionDoc list[] = {
        {.name = "base_url",
         .effect = "What short links of the shared domain begin with, such as "
                   "https://go.example.com; empty takes the address that is served."},
        {.name = "cache_bytes",
         .effect = "Memory for targets kept near, of all cores together.",
         .unit = "bytes",
         .minimum = 1 << 20,
         .maximum = std::int64_t{1} << 36},
        {.name = "cache_ttl",
         .effect = "How long another process may go on serving an edited or deleted link.",
         .minimum = 1'000,
         .maximum = 30'000},
        {.name = "unknown_ttl",
         .effect = "How long a code found unknown is taken as unknown without asking again.",
         .minimum = 10,
         .maximum = 10'000},
    };
};

template <>
struct option_docs<app::IdempotencySection> {
    static constexpr OptionDoc list[] = {
        {.name = "retention",
         .effect = "How long an Idempotency-Key is remembered; longer than clients repeat.",
         .minimum = 3'600'000,
         .maximum = std::int64_t{30} * 24 * 3'600'000},
    };
};

template <>
struct option_docs<app::ProcessSection> {
    static constexpr OptionDoc list[] = {
        {.name = "cores",
         .effect = "Threads that serve, one loop each; 0 takes the processors of this process.",
         .unit = "threads",
         .minimum = 0,
         .maximum = 256},
        {.name = "state_folder",
         .effect = "Where the map of the nodes is kept for starts without the control database; "
                   "empty: nowhere."},
        {.name = "shutdown_bound",
         .effect = "An orderly stop takes at most so long; what has not ended then is cut off.",
         .minimum = 100,
         .maximum = 600'000},
    };
};

template <>
struct option_docs<app::LogSection> {
    static constexpr OptionDoc list[] = {
        {.name = "level", .effect = "debug, info, warning or error; lines below are not made."},
        {.name = "form",
         .effect = "json, human, or automatic: human in a terminal and json elsewhere."},
    };
};

template <>
struct option_docs<app::TraceSection> {
    static constexpr OptionDoc list[] = {
        {.name = "otlp_endpoint",
         .effect = "Where spans go by OTLP/HTTP as JSON, such as http://127.0.0.1:4318/v1/traces; "
                   "https checks the certificate; empty: no span is kept and none leaves."},
        {.name = "sample_ratio",
         .effect = "How many of the traces that begin here are kept, from 0 for none to 1 for all. "
                   "A request with a traceparent goes by the caller's choice instead."},
        {.name = "otlp_timeout",
         .effect = "How long the collector may take for one answer.",
         .minimum = 50,
         .maximum = 60'000},
    };
};

template <>
struct option_docs<app::Config> {
    static constexpr OptionDoc list[] = {
        {.name = "http", .effect = "The server."},
        {.name = "postgres", .effect = "Truth: everything that must not be lost."},
        {.name = "redis", .effect = "Hot state: everything that may be lost and rebuilt."},
        {.name = "links", .effect = "Short links."},
        {.name = "idempotency", .effect = "Repeated requests."},
        {.name = "process", .effect = "This process."},
        {.name = "log", .effect = "Log lines on standard error."},
        {.name = "trace", .effect = "Traces for a collector of OpenTelemetry."},
    };
};

}  // namespace tenon::runtime
