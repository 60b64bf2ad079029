// A map from a file that anything may have happened to: refused, or one that a Map can be made of.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/assert.hpp"
#include "runtime/json.hpp"
#include "storage/map_record.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace tenon;
    const auto record = storage::read_map({reinterpret_cast<const char*>(data), size});
    if (!record) return 0;
    const auto map = storage::map_of(*record);
    TENON_ASSERT(map.spaces_total() * base::slots_total == record->owners.size());
    const auto again = storage::read_map(runtime::to_json(*record));
    TENON_ASSERT(again && again->owners == record->owners && again->epochs == record->epochs);
    return 0;
}
