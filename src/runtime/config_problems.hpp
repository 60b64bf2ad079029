// Collects what is wrong with a configuration, so that one run shows all of it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "runtime/option.hpp"

namespace tenon::runtime {

/// The problems of one configuration.
class ConfigProblems {
public:
    void add(std::string place, std::string sentence);
    /// Takes over the problems of an earlier error.
    void add_all(const base::Error& error);
    /// `name` is unknown at `place`; says the nearest known one if there is one.
    void add_unknown(std::string place, std::string_view name, std::string_view nearest);
    /// A value was refused; says what it was, unless it is secret.
    void add_refused(std::string place, const Option& option, const OptionValue& value);
    [[nodiscard]] bool empty() const { return fields_.empty(); }
    [[nodiscard]] base::Error error() const;

private:
    std::vector<base::FieldError> fields_;
};

/// What a refused value looked like, short: 12, "text", a list.
[[nodiscard]] std::string describe_value(const OptionValue& value);

}  // namespace tenon::runtime
