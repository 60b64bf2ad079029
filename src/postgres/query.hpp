// A statement and its values.
#pragma once

#include "postgres/parameters.hpp"

namespace tenon::postgres {

/// SQL text with static lifetime and $n placeholders; prepared once per connection, found by
/// the text's address. `columns` are decoded in binary form.
struct Statement {
    const char* sql = nullptr;
};

/// A statement with its values.
struct Query {
    Statement statement;
    Parameters parameters;
    /// False promises that the statement changes nothing: when its connection is lost, the caller
    /// hears Unavailable (repeat) instead of OutcomeUnknown.
    bool writes = true;
};

}  // namespace tenon::postgres
