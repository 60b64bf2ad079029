// A JSON text as it was written, checked for what no reader wants.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace tenon::runtime {

/// How deep arrays and objects may be nested.
inline constexpr std::size_t json_depth_max = 32;

/// The values of one JSON text in order of appearance; 0 is the outermost.
///
/// Owns:  all texts; the source may go.
/// Cost:  two allocations that grow, O(n); names of an object are compared by sorting.
class JsonTree {
public:
    enum class Kind : std::uint8_t { null, boolean, number, string, array, object };
    using Index = std::uint32_t;

    struct Text {
        std::uint32_t at = 0;
        std::uint32_t size = 0;
    };
    struct Node {
        Kind kind = Kind::null;
        bool truth = false;  ///< of a boolean
        Index parent = 0;
        Index end = 0;  ///< the first node that is not inside this one
        Text name;      ///< of an object's member
        Text text;      ///< of a string, decoded; of a number, as written
    };

    /// Errors: json.invalid: syntax, invalid UTF-8, a lone surrogate, nesting beyond 32 or more
    ///         than 4 GiB; says the byte at which the text stops being JSON.
    [[nodiscard]] static base::Result<JsonTree> parse(std::string_view text);

    [[nodiscard]] const Node& operator[](Index node) const { return nodes_[node]; }
    [[nodiscard]] std::string_view text_of(Index node) const { return view(nodes_[node].text); }
    [[nodiscard]] std::string_view name_of(Index node) const { return view(nodes_[node].name); }
    /// The items or members of a node: for (i = first(n); i != after(n); i = after(i)).
    [[nodiscard]] Index first(Index node) const { return node + 1; }
    [[nodiscard]] Index after(Index node) const { return nodes_[node].end; }
    [[nodiscard]] std::size_t count(Index node) const;
    /// The RFC 6901 pointer of a node.
    [[nodiscard]] std::string pointer_to(Index node) const;

    /// Well-formed, but refused: duplicate members, U+0000, integers beyond 64 bits, numbers beyond
    /// a double. At most `refused_max` of them.
    [[nodiscard]] const std::vector<base::FieldError>& refused() const { return refused_; }
    static constexpr std::size_t refused_max = 100;

private:
    friend class JsonTreeBuilder;

    [[nodiscard]] std::string_view view(Text text) const {
        return std::string_view(texts_).substr(text.at, text.size);
    }
    void check();
    void check_names(Index object);
    void refuse(Index node, std::string_view expected);

    std::vector<Node> nodes_;
    std::string texts_;
    std::vector<base::FieldError> refused_;
};

/// Appends "/name" to a pointer, with '~' and '/' escaped. A name of more than 128 bytes is cut and
/// ends in "...", so that an answer that names it stays small.
void append_pointer(std::string& pointer, std::string_view name);

/// True when a number is written without fraction and exponent.
[[nodiscard]] bool is_integer_text(std::string_view number);

}  // namespace tenon::runtime
