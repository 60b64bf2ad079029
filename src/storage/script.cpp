#include "storage/script.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <span>

namespace tenon::storage {

namespace {

bool is_word(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}
bool is_space(char c) {
    return std::isspace(static_cast<unsigned char>(c)) != 0;
}

std::size_t end_of(std::string_view text, std::string_view mark, std::size_t from) {
    const auto at = text.find(mark, from);
    return at == std::string_view::npos ? text.size() : at + mark.size();
}

// Past a quoted text that begins at `at`; doubled quotes stay inside, backslashes count in E''.
std::size_t skip_quoted(std::string_view text, std::size_t at, bool backslashes) {
    const char quote = text[at];
    for (std::size_t i = at + 1; i < text.size(); ++i) {
        if (backslashes && text[i] == '\\') {
            ++i;
        } else if (text[i] == quote) {
            if (i + 1 < text.size() && text[i + 1] == quote) {
                ++i;
            } else {
                return i + 1;
            }
        }
    }
    return text.size();
}

std::size_t skip_block_comment(std::string_view text, std::size_t at) {
    int depth = 0;
    for (std::size_t i = at; i + 1 < text.size(); ++i) {
        if (text.substr(i, 2) == "/*") {
            ++depth;
            ++i;
        } else if (text.substr(i, 2) == "*/") {
            ++i;
            if (--depth == 0) {
                return i + 1;
            }
        }
    }
    return text.size();
}

// Past $tag$ ... $tag$ that begins at `at`, or `at` when it is only a dollar sign.
std::size_t skip_dollar_quoted(std::string_view text, std::size_t at) {
    if (at > 0 && is_word(text[at - 1])) {
        return at;
    }
    std::size_t close = at + 1;
    while (close < text.size() && is_word(text[close])) {
        ++close;
    }
    const bool is_parameter =
        at + 1 < text.size() && std::isdigit(static_cast<unsigned char>(text[at + 1])) != 0;
    if (close >= text.size() || text[close] != '$' || is_parameter) {
        return at;
    }
    return end_of(text, text.substr(at, close - at + 1), close + 1);
}

// Past whatever hides semicolons at `at`: a comment or a quoted text; `at` when nothing does.
std::size_t skip_opaque(std::string_view text, std::size_t at) {
    const char c = text[at];
    if (text.substr(at, 2) == "--") {
        return end_of(text, "\n", at);
    }
    if (text.substr(at, 2) == "/*") {
        return skip_block_comment(text, at);
    }
    if (c == '"') {
        return skip_quoted(text, at, false);
    }
    if (c == '$') {
        return skip_dollar_quoted(text, at);
    }
    if (c != '\'') {
        return at;
    }
    const bool escaped = at > 0 && (text[at - 1] == 'E' || text[at - 1] == 'e') &&
                         (at < 2 || !is_word(text[at - 2]));
    return skip_quoted(text, at, escaped);
}

std::size_t skip_blank(std::string_view text, std::size_t at) {
    while (at < text.size()) {
        if (is_space(text[at])) {
            ++at;
        } else if (text.substr(at, 2) == "--" || text.substr(at, 2) == "/*") {
            at = skip_opaque(text, at);
        } else {
            break;
        }
    }
    return at;
}

void add_step(std::vector<Step>& steps, std::string_view script, std::size_t from, std::size_t to) {
    const std::size_t begin = skip_blank(script, from);
    while (to > begin && is_space(script[to - 1])) {
        --to;
    }
    if (begin >= to) {
        return;
    }
    const auto before = script.substr(0, begin);
    const auto line = 1 + static_cast<int>(std::count(before.begin(), before.end(), '\n'));
    steps.push_back({.sql = script.substr(begin, to - begin), .line = line});
}

// The words of a statement in upper case, names with their dots and quotes as written.
struct Words {
    std::vector<std::string> upper;
    std::vector<std::string> written;

    [[nodiscard]] bool begin_with(std::span<const std::string_view> words,
                                  std::size_t from = 0) const {
        if (from + words.size() > upper.size()) {
            return false;
        }
        return std::equal(words.begin(), words.end(), upper.begin() + static_cast<long>(from));
    }
    [[nodiscard]] bool contain(std::string_view first, std::string_view second) const {
        for (std::size_t i = 0; i + 1 < upper.size(); ++i) {
            if (upper[i] == first && upper[i + 1] == second) {
                return true;
            }
        }
        return false;
    }
    [[nodiscard]] std::size_t find(std::string_view word) const {
        return static_cast<std::size_t>(std::find(upper.begin(), upper.end(), word) -
                                        upper.begin());
    }
};

Words words_of(std::string_view sql) {
    constexpr std::size_t words_max = 40;
    Words words;
    std::size_t at = skip_blank(sql, 0);
    while (at < sql.size() && words.upper.size() < words_max) {
        std::size_t end = at;
        while (end < sql.size() && (is_word(sql[end]) || sql[end] == '.' || sql[end] == '"')) {
            end = sql[end] == '"' ? skip_quoted(sql, end, false) : end + 1;
        }
        if (end == at) {
            const std::size_t past = skip_opaque(sql, at);
            at = skip_blank(sql, past == at ? at + 1 : past);
            continue;
        }
        words.written.emplace_back(sql.substr(at, end - at));
        words.upper.push_back(words.written.back());
        for (char& c : words.upper.back()) {
            c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
        }
        at = skip_blank(sql, end);
    }
    return words;
}

// The next word that is a name and none of IF [NOT] EXISTS, ONLY.
std::string name_after(const Words& words, std::size_t at) {
    while (at < words.upper.size() && (words.upper[at] == "IF" || words.upper[at] == "NOT" ||
                                       words.upper[at] == "EXISTS" || words.upper[at] == "ONLY")) {
        ++at;
    }
    return at < words.written.size() ? words.written[at] : std::string();
}

enum class Target { none, after, after_on };

struct Rule {
    std::array<std::string_view, 4> words;
    std::string_view kind;
    std::string_view lock;
    Target target;
};

// The longest form of a statement comes before its shorter ones.
constexpr auto rules = std::to_array<Rule>({
    {{"CREATE", "TABLE"}, "CREATE TABLE", "none", Target::none},
    {{"CREATE", "UNIQUE", "INDEX", "CONCURRENTLY"},
     "CREATE INDEX CONCURRENTLY",
     "SHARE UPDATE EXCLUSIVE",
     Target::after_on},
    {{"CREATE", "INDEX", "CONCURRENTLY"},
     "CREATE INDEX CONCURRENTLY",
     "SHARE UPDATE EXCLUSIVE",
     Target::after_on},
    {{"CREATE", "UNIQUE", "INDEX"}, "CREATE INDEX", "SHARE", Target::after_on},
    {{"CREATE", "INDEX"}, "CREATE INDEX", "SHARE", Target::after_on},
    {{"CREATE", "TRIGGER"}, "CREATE TRIGGER", "SHARE ROW EXCLUSIVE", Target::after_on},
    {{"CREATE", "SCHEMA"}, "CREATE SCHEMA", "none", Target::none},
    {{"CREATE", "FUNCTION"}, "CREATE FUNCTION", "none", Target::none},
    {{"CREATE", "OR", "REPLACE", "FUNCTION"}, "CREATE FUNCTION", "none", Target::none},
    {{"CREATE", "PROCEDURE"}, "CREATE PROCEDURE", "none", Target::none},
    {{"CREATE", "VIEW"}, "CREATE VIEW", "none", Target::none},
    {{"CREATE", "TYPE"}, "CREATE TYPE", "none", Target::none},
    {{"CREATE", "SEQUENCE"}, "CREATE SEQUENCE", "none", Target::none},
    {{"CREATE", "STATISTICS"}, "CREATE STATISTICS", "SHARE UPDATE EXCLUSIVE", Target::none},
    {{"ALTER", "TABLE"}, "ALTER TABLE", "ACCESS EXCLUSIVE", Target::after},
    {{"ALTER", "INDEX"}, "ALTER INDEX", "ACCESS EXCLUSIVE", Target::after},
    {{"DROP", "TABLE"}, "DROP TABLE", "ACCESS EXCLUSIVE", Target::after},
    {{"DROP", "INDEX", "CONCURRENTLY"},
     "DROP INDEX CONCURRENTLY",
     "SHARE UPDATE EXCLUSIVE",
     Target::after},
    {{"DROP", "INDEX"}, "DROP INDEX", "ACCESS EXCLUSIVE", Target::after},
    {{"DROP", "FUNCTION"}, "DROP FUNCTION", "none", Target::none},
    {{"TRUNCATE", "TABLE"}, "TRUNCATE", "ACCESS EXCLUSIVE", Target::after},
    {{"TRUNCATE"}, "TRUNCATE", "ACCESS EXCLUSIVE", Target::after},
    {{"COMMENT", "ON", "TABLE"}, "COMMENT", "SHARE UPDATE EXCLUSIVE", Target::after},
    {{"COMMENT"}, "COMMENT", "none", Target::none},
    {{"INSERT", "INTO"}, "INSERT", "ROW EXCLUSIVE", Target::after},
    {{"UPDATE"}, "UPDATE", "ROW EXCLUSIVE", Target::after},
    {{"DELETE", "FROM"}, "DELETE", "ROW EXCLUSIVE", Target::after},
    {{"GRANT"}, "GRANT", "none", Target::none},
    {{"REVOKE"}, "REVOKE", "none", Target::none},
    {{"ANALYZE"}, "ANALYZE", "SHARE UPDATE EXCLUSIVE", Target::after},
    {{"SELECT"}, "SELECT", "depends on what it calls", Target::none},
    {{"DO"}, "DO", "depends on what it calls", Target::none},
});

// The forms of ALTER TABLE that let others read and write go on.
std::string_view lock_of_alter(const Words& words) {
    if (words.contain("VALIDATE", "CONSTRAINT") || words.contain("ATTACH", "PARTITION") ||
        words.contain("SET", "STATISTICS")) {
        return "SHARE UPDATE EXCLUSIVE";
    }
    if (words.contain("ADD", "FOREIGN")) {
        return "SHARE ROW EXCLUSIVE";
    }
    return "ACCESS EXCLUSIVE";
}

}  // namespace

std::vector<Step> split_script(std::string_view script) {
    std::vector<Step> steps;
    std::size_t from = 0;
    for (std::size_t at = 0; at < script.size();) {
        if (script[at] == ';') {
            add_step(steps, script, from, at);
            from = ++at;
            continue;
        }
        const std::size_t past = skip_opaque(script, at);
        at = past == at ? at + 1 : past;
    }
    add_step(steps, script, from, script.size());
    return steps;
}

bool runs_outside_transaction(std::string_view script) {
    constexpr std::string_view mark = "-- tenon: no-transaction";
    if (!script.starts_with(mark)) {
        return false;
    }
    return script.size() == mark.size() || is_space(script[mark.size()]);
}

Footprint footprint_of(std::string_view sql) {
    const Words words = words_of(sql);
    for (const Rule& rule : rules) {
        const auto last = std::find(rule.words.begin(), rule.words.end(), std::string_view());
        const std::span expected(rule.words.begin(), last);
        if (!words.begin_with(expected)) {
            continue;
        }
        Footprint footprint{.kind = rule.kind, .lock = rule.lock, .table = {}};
        if (rule.target == Target::after) {
            footprint.table = name_after(words, expected.size());
        }
        if (rule.target == Target::after_on) {
            footprint.table = name_after(words, words.find("ON") + 1);
        }
        if (rule.kind == "ALTER TABLE") {
            footprint.lock = lock_of_alter(words);
        }
        return footprint;
    }
    return {.kind = "", .lock = "not known", .table = {}};
}

std::string concurrent_index_of(std::string_view sql) {
    if (footprint_of(sql).kind != "CREATE INDEX CONCURRENTLY") {
        return {};
    }
    const Words words = words_of(sql);
    std::string name = name_after(words, words.find("CONCURRENTLY") + 1);
    return name == "ON" || name == "on" ? std::string() : name;
}

}  // namespace tenon::storage
