// What reads back is what was written; the canonical text is its own canonical text.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/assert.hpp"
#include "runtime/json.hpp"

namespace tenon::runtime {

enum class FuzzKind { first, second_ };
BOOST_DESCRIBE_ENUM(FuzzKind, first, second_)

struct FuzzInner {
    std::optional<double> weight;
    std::vector<std::int16_t> numbers;
    bool operator==(const FuzzInner&) const = default;
};
BOOST_DESCRIBE_STRUCT(FuzzInner, (), (weight, numbers))

struct FuzzOuter {
    std::optional<bool> on;
    std::optional<std::int64_t> low;
    std::optional<std::uint64_t> high;
    std::optional<std::string> text;
    std::optional<base::Time> at;
    std::optional<FuzzKind> kind;
    std::optional<std::vector<FuzzInner>> inner;
    std::optional<std::map<std::string, FuzzInner>> named;
    Patch<std::string> change;
    bool operator==(const FuzzOuter&) const = default;
};
BOOST_DESCRIBE_STRUCT(FuzzOuter, (), (on, low, high, text, at, kind, inner, named, change))

namespace {

void check_round_trip(std::string_view text) {
    const auto first = from_json<FuzzOuter>(text);
    if (!first) {
        TENON_ASSERT(!first.error().detail().empty());
        return;
    }
    const std::string written = to_json(*first);
    const auto second = from_json<FuzzOuter>(written);
    TENON_ASSERT(second.has_value());
    TENON_ASSERT(*second == *first);
    TENON_ASSERT(to_json(*second) == written);
    // What a struct accepts, the canonical form accepts.
    TENON_ASSERT(canonical_json(text).has_value());
}

void check_canonical(std::string_view text) {
    const auto once = canonical_json(text);
    if (!once) return;
    const auto twice = canonical_json(*once);
    TENON_ASSERT(twice.has_value());
    TENON_ASSERT(*twice == *once);
}

}  // namespace
}  // namespace tenon::runtime

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    tenon::runtime::check_round_trip(text);
    tenon::runtime::check_canonical(text);
    return 0;
}
