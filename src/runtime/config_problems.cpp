#include "runtime/config_problems.hpp"

#include <fmt/format.h>

#include "runtime/errors.hpp"
#include "runtime/option_codec.hpp"
#include "runtime/secret.hpp"

namespace tenon::runtime {

void ConfigProblems::add(std::string place, std::string sentence) {
    fields_.push_back({std::move(place), std::move(sentence)});
}

void ConfigProblems::add_all(const base::Error& error) {
    fields_.insert(fields_.end(), error.fields().begin(), error.fields().end());
}

void ConfigProblems::add_unknown(std::string place, std::string_view name,
                                 std::string_view nearest) {
    add(std::move(place),
        nearest.empty() ? fmt::format("there is no option {}", name)
                        : fmt::format("there is no option {}; did you mean {}?", name, nearest));
}

void ConfigProblems::add_refused(std::string place, const Option& option,
                                 const OptionValue& value) {
    const std::string shown =
        option.doc.secret ? std::string(secret_mask) : mask_secrets(describe_value(value));
    add(std::move(place),
        fmt::format("{} is {}; expected {}", option.path, shown, option.expected));
}

base::Error ConfigProblems::error() const {
    std::string detail;
    for (const base::FieldError& field : fields_) {
        if (!detail.empty()) detail += '\n';
        detail += fmt::format("{}: {}{}", field.pointer, field.expected,
                              field.expected.ends_with('?') ? "" : ".");
    }
    base::Error error(errors::config_invalid, std::move(detail));
    for (const base::FieldError& field : fields_) error.add_field(field.pointer, field.expected);
    return error;
}

std::string describe_value(const OptionValue& value) {
    return std::visit(
        [](const auto& held) -> std::string {
            using T = std::decay_t<decltype(held)>;
            if constexpr (std::same_as<T, std::string>) {
                constexpr std::size_t shown_max = 60;
                return held.size() <= shown_max ? toml_text(held)
                                                : toml_text(held.substr(0, shown_max)) + "...";
            } else if constexpr (std::same_as<T, Texts>) {
                return "a list";
            } else if constexpr (std::same_as<T, OptionValue::Other>) {
                return std::string(held.kind);
            } else {
                return fmt::format("{}", held);
            }
        },
        value.value);
}

}  // namespace tenon::runtime
