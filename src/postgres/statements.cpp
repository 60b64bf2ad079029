#include "postgres/statements.hpp"

#include <algorithm>

namespace tenon::postgres {

namespace {

bool matches(const Statements::Entry& entry, const Query& query) {
    const auto values = query.parameters.entries();
    return std::ranges::equal(entry.types, values, {}, {}, &Parameters::Entry::type) &&
           entry.text == query.statement.sql;
}

}  // namespace

std::uint32_t Statements::number_of(const Query& query) {
    const auto known = by_address_.find(query.statement.sql);
    if (known != by_address_.end() && matches(entries_[known->second], query)) {
        return known->second;
    }
    const std::uint32_t number = find_or_add(query);
    by_address_[query.statement.sql] = number;
    return number;
}

std::uint32_t Statements::find_or_add(const Query& query) {
    const std::string text = query.statement.sql;
    const auto [begin, end] = by_text_.equal_range(text);
    for (auto same = begin; same != end; ++same) {
        if (matches(entries_[same->second], query)) return same->second;
    }
    const auto number = static_cast<std::uint32_t>(entries_.size());
    Entry& entry = entries_.emplace_back(text);
    for (const auto& value : query.parameters.entries()) entry.types.push_back(value.type);
    by_text_.emplace(text, number);
    return number;
}

}  // namespace tenon::postgres
