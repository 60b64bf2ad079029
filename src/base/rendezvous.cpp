#include "base/rendezvous.hpp"

#include <array>
#include <cmath>

#include "base/hash.hpp"

namespace tenon::base {
namespace {

void put_big_endian(char* out, std::uint64_t value) {
    for (int shift = 56; shift >= 0; shift -= 8) {
        *out++ = static_cast<char>(static_cast<std::uint8_t>(value >> shift));
    }
}

/// What a lot is worth: higher lots more, and twice the weight wins twice as often.
double score(std::uint64_t lot, double weight) {
    const double u = (static_cast<double>(lot >> 12) + 0.5) * 0x1p-52;
    return weight / -std::log(u);
}

}  // namespace

Result<Rendezvous> Rendezvous::make(std::vector<Node> nodes) {
    auto sorted = sort_nodes(std::move(nodes));
    if (!sorted) return fail(std::move(sorted).error());
    std::vector<Candidate> candidates;
    candidates.reserve(sorted->size());
    for (Node& node : *sorted) {
        const std::uint64_t hash = point_of(node.name, 0);
        candidates.push_back({.name = std::move(node.name),
                              .weight = static_cast<double>(node.weight),
                              .hash = hash});
    }
    return Rendezvous(std::move(candidates));
}

std::string_view Rendezvous::owner(std::string_view key) const {
    std::array<char, 16> both{};
    put_big_endian(both.data() + 8, hash64(key));
    const Candidate* winner = nullptr;
    double highest = 0;
    for (const Candidate& candidate : candidates_) {
        put_big_endian(both.data(), candidate.hash);
        const double mark = score(hash64({both.data(), both.size()}), candidate.weight);
        if (winner != nullptr && mark <= highest) continue;
        winner = &candidate;
        highest = mark;
    }
    return winner->name;
}

}  // namespace tenon::base
