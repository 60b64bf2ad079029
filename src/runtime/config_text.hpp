// What `tenon config show | default | check | docs` print.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "runtime/config.hpp"

namespace tenon::runtime {

/// Every option with its value and origin, secrets masked: aligned columns, for people.
[[nodiscard]] std::string show_config_text(const std::vector<OptionState>& states);
/// The same as a JSON array of {option, value, origin}; `value` is TOML, left out when not set.
[[nodiscard]] std::string show_config_json(const std::vector<OptionState>& states);

/// A TOML file that changes nothing: every option commented out at its default, below its effect,
/// unit, bounds and variable.
[[nodiscard]] std::string default_config(const OptionList& list);

/// A Markdown page: a section and a table per section.
[[nodiscard]] std::string document_config(const OptionList& list);
/// The same as a JSON array of {option, variable, type, unit, default, expected, effect, secret}.
[[nodiscard]] std::string document_config_json(const OptionList& list);

/// One sentence per problem on lines of their own.
[[nodiscard]] std::string check_config_text(const base::Error& error);
/// {"ok": false, "problems": [{place, problem}]}; without an error ok is true.
[[nodiscard]] std::string check_config_json(const base::Error* error);

}  // namespace tenon::runtime
