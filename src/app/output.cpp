#include "app/output.hpp"

#include <cstddef>
#include <cstdio>

#include "app/colour.hpp"

namespace tenon::app {

void print(std::string_view text) {
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
}

void complain(std::string_view sentence) {
    const auto name = paint(stderr, Tint::red, "tenon:");
    std::fprintf(stderr, "%s %s\n", name.c_str(), in_one_line(sentence).c_str());
}

std::string in_one_line(std::string_view text) {
    std::string line;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const bool goes_on = text.substr(i).starts_with("\n\t");
        line += goes_on ? ' ' : text[i];
        if (goes_on) ++i;
    }
    while (line.ends_with('\n')) line.pop_back();
    return line;
}

std::string as_json_lines(std::string_view array) {
    std::string lines;
    int depth = 0;
    bool in_string = false;
    for (std::size_t i = 0; i < array.size(); ++i) {
        const char c = array[i];
        if (in_string) {
            lines += c;
            if (c == '\\') lines += array[++i];
            in_string = c != '"';
            continue;
        }
        if (c == ']' || c == '}') --depth;
        if (depth > 0) lines += depth == 1 && c == ',' ? '\n' : c;
        if (c == '[' || c == '{') ++depth;
        in_string = c == '"';
    }
    return lines.empty() ? lines : lines + '\n';
}

}  // namespace tenon::app
