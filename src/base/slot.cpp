#include "base/slot.hpp"

#include <array>
#include <cstring>
#include <string>

#include "base/hash.hpp"
#include "base/uuid.hpp"

namespace tenon::base {

Slot slot_of(const Uuid& project, std::string_view key) {
    // Keys are short nearly always; a long one costs one allocation and hashes to the same.
    std::array<char, 256> small{};
    std::string large;
    char* bytes = small.data();
    const std::size_t size = project.bytes.size() + key.size();
    if (size > small.size()) {
        large.resize(size);
        bytes = large.data();
    }
    std::memcpy(bytes, project.bytes.data(), project.bytes.size());
    if (!key.empty()) std::memcpy(bytes + project.bytes.size(), key.data(), key.size());
    return {static_cast<std::uint16_t>(hash64({bytes, size}) % slots_total)};
}

}  // namespace tenon::base
