#include "http/compress.hpp"

#include <zlib.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "http/text.hpp"

namespace tenon::http {

namespace {

// Longer ones would hold up the other requests of the core.
constexpr std::size_t compressed_max = 1024 * 1024;
constexpr int best_level = 9;

/// Weights in thousandths, where the client gave them.
struct Weights {
    std::optional<int> gzip;
    std::optional<int> identity;
    std::optional<int> others;
};

// "1", "0.5", "1.000"; 0 for what is no weight.
int read_weight(std::string_view text) {
    if (text.empty() || text.size() > 5 || (text[0] != '0' && text[0] != '1')) return 0;
    if (text.size() > 1 && text[1] != '.') return 0;
    int weight = text[0] == '1' ? 1000 : 0;
    int digit = 100;
    for (const char c : text.substr(std::min<std::size_t>(2, text.size()))) {
        if (c < '0' || c > '9') return 0;
        weight += (c - '0') * digit;
        digit /= 10;
    }
    return weight > 1000 ? 0 : weight;
}

// "gzip;q=0.5"
void read_coding(std::string_view text, Weights& weights) {
    const std::size_t semicolon = std::min(text.find(';'), text.size());
    const std::string_view name = trim(text.substr(0, semicolon));
    int weight = 1000;
    if (semicolon < text.size()) {
        const std::string_view parameter = trim(text.substr(semicolon + 1));
        const bool weighs = parameter.starts_with("q=") || parameter.starts_with("Q=");
        weight = weighs ? read_weight(parameter.substr(2)) : 0;
    }
    if (equal_without_case(name, "gzip") || equal_without_case(name, "x-gzip")) {
        weights.gzip = weight;
    } else if (equal_without_case(name, "identity")) {
        weights.identity = weight;
    } else if (name == "*") {
        weights.others = weight;
    }
}

}  // namespace

struct Compressor::Stream {
    z_stream z{};
    bool works = false;

    explicit Stream(int level) {
        constexpr int window_bits_of_gzip = 15 + 16;
        constexpr int memory_level = 8;
        works = ::deflateInit2(&z, level, Z_DEFLATED, window_bits_of_gzip, memory_level,
                               Z_DEFAULT_STRATEGY) == Z_OK;
    }
    ~Stream() {
        if (works) ::deflateEnd(&z);
    }
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;
};

Compressor::Compressor(int level) : level_(level) {}
Compressor::~Compressor() = default;

bool Compressor::compress(std::string_view text, std::string& out) {
    if (text.size() > std::numeric_limits<uInt>::max()) return false;
    if (!stream_) stream_ = std::make_unique<Stream>(level_);
    z_stream& z = stream_->z;
    if (!stream_->works || ::deflateReset(&z) != Z_OK) return false;
    out.resize(::deflateBound(&z, text.size()));
    // zlib reads from it only.
    z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    z.avail_in = static_cast<uInt>(text.size());
    z.next_out = reinterpret_cast<Bytef*>(out.data());
    z.avail_out = static_cast<uInt>(out.size());
    if (::deflate(&z, Z_FINISH) != Z_STREAM_END) return false;
    out.resize(out.size() - z.avail_out);
    return true;
}

std::shared_ptr<const ConstantBody> make_constant_body(std::string text) {
    ConstantBody body{.text = std::move(text), .gzipped = {}};
    Compressor compressor(best_level);
    if (!compressor.compress(body.text, body.gzipped)) body.gzipped.clear();
    return std::make_shared<const ConstantBody>(std::move(body));
}

bool accepts_gzip(const Request& request) {
    Weights weights;
    for (const Header& one : request.headers) {
        if (!equal_without_case(one.name, "Accept-Encoding")) continue;
        std::string_view list = one.value;
        while (!list.empty()) {
            const std::size_t comma = std::min(list.find(','), list.size());
            read_coding(list.substr(0, comma), weights);
            list.remove_prefix(std::min(comma + 1, list.size()));
        }
    }
    const int others = weights.others.value_or(0);
    const int gzip = weights.gzip.value_or(others);
    return gzip > 0 && gzip >= weights.identity.value_or(others);
}

void compress_body(const Request& request, Response& response, Compressor& compressor) {
    response.add_header("Vary", "Accept-Encoding");
    if (!accepts_gzip(request)) return;
    if (const ConstantBody* const constant = response.constant_body()) {
        if (!constant->gzipped.empty()) response.send_gzipped();
        return;
    }
    if (response.body().size() > compressed_max) return;
    std::string smaller;
    if (compressor.compress(response.body(), smaller)) response.send_gzipped(std::move(smaller));
}

}  // namespace tenon::http
