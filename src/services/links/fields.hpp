// What the fields of links mean, for validation and for the OpenAPI document.
#pragma once

#include "http/endpoint.hpp"
#include "services/links/types.hpp"

namespace tenon::http {

template <>
struct fields_of<links::CreateLink> {
    static constexpr FieldSpec list[] = {
        {.name = "url",
         .meaning = "Where the link leads: an http or https URL without credentials. It is stored "
                    "as a browser would write it.",
         .example = R"("https://example.com/spring?sale=1")",
         .length_max = 8192,
         .format = "url"},
        {.name = "alias",
         .meaning = "A name of your own instead of a drawn code: A-Z a-z 0-9 - _, kept as it is.",
         .example = R"("spring-sale")",
         .length_max = 128,
         .pattern = "^[A-Za-z0-9_-]+$"},
        {.name = "domain",
         .meaning = "A domain of the project; the shared domain when left out.",
         .example = R"("go.example.com")",
         .length_max = 259},
        {.name = "expires_at",
         .meaning = "From then on the link answers 410.",
         .example = R"("2031-01-01T00:00:00Z")"},
        {.name = "title",
         .meaning = "For your own lists; visitors do not see it.",
         .example = R"("Spring sale")",
         .length_max = 512},
        {.name = "status",
         .meaning = "302 unless chosen: 301 and 308 may be kept by browsers for a minute.",
         .example = "302",
         .minimum = 301,
         .maximum = 308,
         .choices = links::redirect_statuses},
        {.name = "forward_query",
         .meaning = "Append the visitor's query to the target, byte for byte.",
         .example = "false"},
    };
};

template <>
struct fields_of<links::CreateLinks> {
    static constexpr FieldSpec list[] = {
        {.name = "links",
         .meaning = "The links to make, at most 500; each gets a verdict of its own.",
         .example = R"([{"url": "https://example.com/a"}, {"url": "https://example.com/b"}])",
         .length_max = links::bulk_max},
    };
};

template <>
struct fields_of<links::EditLink> {
    static constexpr FieldSpec list[] = {
        {.name = "url",
         .meaning = "The new target, under the rules of creation.",
         .example = R"("https://example.com/summer")",
         .length_max = 8192,
         .format = "url",
         .removable = false},
        {.name = "expires_at",
         .meaning = "A new end; null for none.",
         .example = R"("2032-01-01T00:00:00Z")"},
        {.name = "title",
         .meaning = "A new title; null for none.",
         .example = R"("Summer sale")",
         .length_max = 512},
        {.name = "status",
         .meaning = "301, 302, 307 or 308.",
         .example = "307",
         .minimum = 301,
         .maximum = 308,
         .choices = links::redirect_statuses,
         .removable = false},
        {.name = "forward_query",
         .meaning = "Append the visitor's query to the target, byte for byte.",
         .example = "true",
         .removable = false},
    };
};

template <>
struct fields_of<links::Link> {
    static constexpr FieldSpec list[] = {
        {.name = "code", .meaning = "The drawn code or the alias.", .example = R"("2fQx9Kd")"},
        {.name = "short_url",
         .meaning = "What to give away.",
         .example = R"("https://go.example.com/2fQx9Kd")"},
        {.name = "url",
         .meaning = "Where it leads.",
         .example = R"("https://example.com/spring?sale=1")"},
        {.name = "domain", .meaning = "Its domain.", .example = R"("go.example.com")"},
        {.name = "status",
         .meaning = "The redirect's status.",
         .example = "302",
         .choices = links::redirect_statuses},
        {.name = "forward_query",
         .meaning = "Whether visitors' queries are appended.",
         .example = "false"},
        {.name = "title", .meaning = "As given.", .example = R"("Spring sale")"},
        {.name = "expires_at",
         .meaning = "From then on it answers 410.",
         .example = R"("2031-01-01T00:00:00Z")"},
        {.name = "created_at",
         .meaning = "When it was made.",
         .example = R"("2030-01-01T12:00:00.123456Z")"},
        {.name = "updated_at",
         .meaning = "When it was last changed.",
         .example = R"("2030-01-01T12:00:00.123456Z")"},
    };
};

template <>
struct fields_of<links::Refusal> {
    static constexpr FieldSpec list[] = {
        {.name = "type",
         .meaning = "Stable name, as in a problem.",
         .example = R"("https://tenon.dev/problems/links.alias_taken")"},
        {.name = "title",
         .meaning = "The same for every occurrence.",
         .example = R"("The alias belongs to another link")"},
        {.name = "detail",
         .meaning = "What was wrong and what to do.",
         .example = R"("'spring' is another link's on go.example.com; choose another alias")"},
    };
};

template <>
struct fields_of<links::Verdict> {
    static constexpr FieldSpec list[] = {
        {.name = "link", .meaning = "The link, when it was made."},
        {.name = "error", .meaning = "Why it was not."},
    };
};

template <>
struct fields_of<links::Verdicts> {
    static constexpr FieldSpec list[] = {
        {.name = "results",
         .meaning = "One verdict per item, in the order of the request.",
         .example = "[]"},
    };
};

template <>
struct fields_of<links::LinkPage> {
    static constexpr FieldSpec list[] = {
        {.name = "links", .meaning = "Newest first.", .example = "[]"},
        {.name = "next_cursor",
         .meaning = "Give it back as `cursor` for the next page; absent on the last.",
         .example = R"("AQ...")"},
    };
};

template <>
struct fields_of<links::ByCode> {
    static constexpr FieldSpec list[] = {
        {.name = "code",
         .meaning = "A code or an alias.",
         .example = R"("2fQx9Kd")",
         .length_max = 128,
         .pattern = "^[A-Za-z0-9_-]+$"},
        {.name = "domain",
         .meaning = "Its domain; the shared one when left out.",
         .example = R"("go.example.com")",
         .length_max = 259},
    };
};

template <>
struct fields_of<links::ListLinks> {
    static constexpr FieldSpec list[] = {
        {.name = "domain", .meaning = "Only links of this domain.", .length_max = 259},
        {.name = "limit",
         .meaning = "Links per page; 50 when left out.",
         .example = "50",
         .minimum = 1,
         .maximum = 500},
        {.name = "cursor",
         .meaning = "`next_cursor` of the page before, with the same filter.",
         .length_max = 2048,
         .pattern = "^[A-Za-z0-9_-]+$"},
    };
};

}  // namespace tenon::http
