// The statements that a pool has seen, numbered, so that connections can note what they prepared.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "postgres/query.hpp"

namespace tenon::postgres {

/// Numbers statements by their text and the types of their values.
///
/// Threads: its pool's core only.
/// Cost:    one look-up by the text's address and one comparison of the text, which guards against
///          an address that was used again for another text. Never forgets: texts are constants
///          of the program, so their number is bounded.
class Statements {
public:
    struct Entry {
        std::string text;
        std::vector<Oid> types;
    };

    /// The query's number, given at first sight.
    [[nodiscard]] std::uint32_t number_of(const Query& query);
    [[nodiscard]] const Entry& operator[](std::uint32_t number) const { return entries_[number]; }
    [[nodiscard]] std::size_t size() const { return entries_.size(); }

private:
    [[nodiscard]] std::uint32_t find_or_add(const Query& query);

    std::vector<Entry> entries_;
    std::unordered_map<const char*, std::uint32_t> by_address_;
    std::unordered_multimap<std::string, std::uint32_t> by_text_;
};

}  // namespace tenon::postgres
