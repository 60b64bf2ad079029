// Any bytes of any type are read as every C++ type: a value or std::logic_error, never more.
#include <cstddef>
#include <cstdint>
#include <stdexcept>

#include "postgres/wire.hpp"

namespace {

using namespace tenon;
using postgres::wire::Cell;

template <class T>
void try_decode(const Cell& cell) {
    try {
        (void)postgres::wire::decode<T>(cell);
        (void)postgres::wire::decode<std::optional<T>>(cell);
    } catch (const std::logic_error&) {
        return;  // refused, as documented
    }
}

template <class... T>
void try_all(const Cell& cell) {
    (try_decode<T>(cell), ...);
    (try_decode<std::vector<T>>(cell), ...);
    (try_decode<std::vector<std::optional<T>>>(cell), ...);
}

constexpr postgres::Oid types[] = {16,   17,   20,   21,   23,   25,   114,  701,
                                   1184, 2950, 3802, 1000, 1001, 1016, 1009, 20'000};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const Cell cell{.column = "fuzzed",
                    .type = types[data[0] % std::size(types)],
                    .null = data[0] >= 240,
                    .bytes = {reinterpret_cast<const char*>(data + 1), size - 1}};
    try_all<bool, std::int16_t, std::int32_t, std::int64_t, double, std::string, std::string_view,
            base::Uuid, base::Time, base::Digest, base::Bucket>(cell);
    try_decode<std::vector<std::uint8_t>>(cell);
    return 0;
}
