// A TOML text as a list of settings with their lines.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "runtime/config.hpp"
#include "runtime/option.hpp"

namespace tenon::runtime {

/// One key of a TOML file: an option and its value, or a key that is none.
struct FileSetting {
    std::size_t line = 0;
    std::string path;
    const Option* option = nullptr;  ///< null: there is no such option
    OptionValue value;
    std::string nearest;              ///< for an unknown path; empty: nothing is near
    bool is_misused_section = false;  ///< the path names a section, the value is no table
};

/// The keys of a file by their lines.
///
/// Errors: config.invalid when it is not TOML: one field with "file:line:column" and why.
[[nodiscard]] base::Result<std::vector<FileSetting>> read_toml(const ConfigFile& file,
                                                               const OptionList& list);

}  // namespace tenon::runtime
