// The words of short links.
#pragma once

#include <array>
#include <boost/describe.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/uuid.hpp"
#include "runtime/json_types.hpp"

namespace tenon::links {

/// Longest alias, in bytes.
inline constexpr std::size_t alias_bytes_max = 128;
/// The statuses that a redirect may have.
inline constexpr std::array<std::int64_t, 4> redirect_statuses{301, 302, 307, 308};
/// Most links of one bulk request.
inline constexpr std::size_t bulk_max = 500;

/// What a client sends to make a link.
struct CreateLink {
    std::string url;
    std::optional<std::string> alias;
    std::optional<std::string> domain;
    std::optional<base::Time> expires_at;
    std::optional<std::string> title;
    std::optional<std::int32_t> status;
    std::optional<bool> forward_query;
};
BOOST_DESCRIBE_STRUCT(CreateLink, (),
                      (url, alias, domain, expires_at, title, status, forward_query))

/// Several links in one request.
struct CreateLinks {
    std::vector<CreateLink> links;
};
BOOST_DESCRIBE_STRUCT(CreateLinks, (), (links))

/// What a client sends to change a link; absent members stay, null removes.
struct EditLink {
    runtime::Patch<std::string> url;
    runtime::Patch<base::Time> expires_at;
    runtime::Patch<std::string> title;
    runtime::Patch<std::int32_t> status;
    runtime::Patch<bool> forward_query;
};
BOOST_DESCRIBE_STRUCT(EditLink, (), (url, expires_at, title, status, forward_query))

/// A link as its owner sees it.
struct Link {
    std::string code;
    std::string short_url;
    std::string url;
    std::string domain;
    std::int32_t status = 302;
    bool forward_query = false;
    std::optional<std::string> title;
    std::optional<base::Time> expires_at;
    base::Time created_at;
    base::Time updated_at;
};
BOOST_DESCRIBE_STRUCT(Link, (),
                      (code, short_url, url, domain, status, forward_query, title, expires_at,
                       created_at, updated_at))

/// One refused item of a bulk request.
struct Refusal {
    std::string type;
    std::string title;
    std::string detail;
};
BOOST_DESCRIBE_STRUCT(Refusal, (), (type, title, detail))

/// The verdict on one item of a bulk request: a link or a refusal.
struct Verdict {
    std::optional<Link> link;
    std::optional<Refusal> error;
};
BOOST_DESCRIBE_STRUCT(Verdict, (), (link, error))

/// One verdict per item, in the order of the request.
struct Verdicts {
    std::vector<Verdict> results;
};
BOOST_DESCRIBE_STRUCT(Verdicts, (), (results))

/// A page of links, newest first.
struct LinkPage {
    std::vector<Link> links;
    std::optional<std::string> next_cursor;
};
BOOST_DESCRIBE_STRUCT(LinkPage, (), (links, next_cursor))

/// Which link a path names.
struct ByCode {
    std::string code;
    std::optional<std::string> domain;
};
BOOST_DESCRIBE_STRUCT(ByCode, (), (code, domain))

/// Which links a list shows.
struct ListLinks {
    std::optional<std::string> domain;
    std::optional<std::int32_t> limit;
    std::optional<std::string> cursor;
};
BOOST_DESCRIBE_STRUCT(ListLinks, (), (domain, limit, cursor))

/// A link as it lies in the database.
struct Row {
    base::Uuid domain;
    std::string code;
    base::Uuid project;
    std::string url;
    std::int16_t status = 302;
    bool forward_query = false;
    std::optional<std::string> title;
    std::optional<base::Time> expires_at;
    base::Time created_at;
    base::Time updated_at;
};
BOOST_DESCRIBE_STRUCT(Row, (),
                      (domain, code, project, url, status, forward_query, title, expires_at,
                       created_at, updated_at))

/// What a redirect needs to know, as the near cache keeps it.
struct Target {
    base::Uuid project;
    std::string url;
    std::int16_t status = 302;
    bool forward_query = false;
    std::optional<base::Time> expires_at;
};

}  // namespace tenon::links
