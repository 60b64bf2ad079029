// Values that must never be seen: in a log line, an error or `tenon config show`.
#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace tenon::runtime {

/// What is shown in a secret's place.
inline constexpr std::string_view secret_mask = "********";

/// A text that only reveal() hands out; logs and `tenon config show` print a mask.
class Secret {
public:
    Secret() = default;
    explicit Secret(std::string text) : text_(std::move(text)) {}
    [[nodiscard]] const std::string& reveal() const { return text_; }
    [[nodiscard]] bool empty() const { return text_.empty(); }
    bool operator==(const Secret&) const = default;

private:
    std::string text_;
};

/// Masks what looks like a secret inside a text: API keys (tnk_...), bearer tokens, passwords in
/// URLs and in `password=` of a conninfo.
///
/// Cost: O(n); returns the text unchanged when nothing is found.
[[nodiscard]] std::string mask_secrets(std::string_view text);

/// True for a name whose value is never printed: password, secret, token, authorization,
/// credential, cookie, and whatever ends in _key but is no idempotency_key.
[[nodiscard]] bool names_secret(std::string_view name);

}  // namespace tenon::runtime
