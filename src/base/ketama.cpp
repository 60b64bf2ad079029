#include "base/ketama.hpp"

#include <fmt/format.h>

#include <cmath>
#include <span>

#include "base/hash.hpp"

namespace tenon::base {
namespace {

std::uint32_t read_word(std::span<const std::uint8_t, 4> bytes) {
    return std::uint32_t{bytes[0]} | std::uint32_t{bytes[1]} << 8 | std::uint32_t{bytes[2]} << 16 |
           std::uint32_t{bytes[3]} << 24;
}

/// How many digests a node has. The types decide what is rounded where: they are libketama's.
std::uint32_t digests_of(std::uint32_t weight, std::uint64_t weights, std::size_t nodes) {
    const float part = static_cast<float>(weight) / static_cast<float>(weights);
    const double digests = static_cast<double>(part) * 40.0 * static_cast<double>(nodes);
    return static_cast<std::uint32_t>(std::floor(static_cast<float>(digests)));
}

}  // namespace

std::uint32_t ketama_hash(std::string_view text) {
    const auto digest = md5(text);
    return read_word(std::span(digest).first<4>());
}

Result<KetamaRing> KetamaRing::make(std::vector<Node> nodes) {
    auto sorted = sort_nodes(std::move(nodes));
    if (!sorted) return fail(std::move(sorted).error());
    std::uint64_t weights = 0;
    for (const Node& node : *sorted) weights += node.weight;
    std::vector<Circle<std::uint32_t>::Place> places;
    places.reserve(sorted->size() * 160);
    for (std::uint32_t i = 0; i < sorted->size(); ++i) {
        const Node& node = (*sorted)[i];
        const std::uint32_t digests = digests_of(node.weight, weights, sorted->size());
        for (std::uint32_t k = 0; k < digests; ++k) {
            const auto digest = md5(fmt::format("{}-{}", node.name, k));
            const std::span bytes(digest);
            places.push_back({.point = read_word(bytes.subspan<0, 4>()), .node = i});
            places.push_back({.point = read_word(bytes.subspan<4, 4>()), .node = i});
            places.push_back({.point = read_word(bytes.subspan<8, 4>()), .node = i});
            places.push_back({.point = read_word(bytes.subspan<12, 4>()), .node = i});
        }
    }
    return KetamaRing(*std::move(sorted), Circle<std::uint32_t>(std::move(places)));
}

std::string_view KetamaRing::owner(std::string_view key) const {
    return nodes_[circle_.find(ketama_hash(key)).node].name;
}

std::uint32_t KetamaRing::point(std::string_view key) const {
    return circle_.find(ketama_hash(key)).point;
}

}  // namespace tenon::base
