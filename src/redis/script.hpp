// Lua that runs in the server, named by its digest.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::redis {

/// A Lua script; its SHA-1 digest is computed once. Static lifetime.
class Script {
public:
    explicit Script(std::string_view source);
    [[nodiscard]] std::string_view source() const { return source_; }
    [[nodiscard]] const std::string& digest() const { return digest_; }

private:
    std::string_view source_;
    std::string digest_;
};

}  // namespace tenon::redis
