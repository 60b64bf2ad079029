// The ring of libketama, for caches that other programs share.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/circle.hpp"
#include "base/placement.hpp"
#include "base/result.hpp"

namespace tenon::base {

/// The 32 bits at which libketama places a text: the first 4 bytes of its MD5, little-endian.
[[nodiscard]] std::uint32_t ketama_hash(std::string_view text);

/// The ring that libketama makes, point for point: memcached clients of any language that follow
/// it find the same node for a key.
///
/// Shape: of N nodes, one with the part p of all weights has floor(40 × N × p) digests, MD5 of
///        "name-0", "name-1" and so on, and each gives 4 points, its 4-byte words read
///        little-endian. 160 points per node on average. The order of the nodes does not matter;
///        equal points, which libketama leaves to chance, go to the smaller name.
///        A node with less than 1/40 of the mean weight has no point, and owns nothing.
///        When weights change, the points of nodes with the old weight may change too.
/// Cost:  one MD5 and O(log points) per key.
/// Source: libketama of Last.fm, 2007: its layout, and its float arithmetic, on which the number
///         of points depends.
class KetamaRing final : public Placement {
public:
    /// The ring of these nodes; names are the "host:port" that the other clients use.
    ///
    /// Errors: those of sort_nodes().
    [[nodiscard]] static Result<KetamaRing> make(std::vector<Node> nodes);
    [[nodiscard]] std::string_view owner(std::string_view key) const override;
    /// The point that owns a key, as libketama's own test prints it.
    [[nodiscard]] std::uint32_t point(std::string_view key) const;

private:
    KetamaRing(std::vector<Node> nodes, Circle<std::uint32_t> circle)
        : nodes_(std::move(nodes)), circle_(std::move(circle)) {}

    std::vector<Node> nodes_;  ///< by name
    Circle<std::uint32_t> circle_;
};

}  // namespace tenon::base
