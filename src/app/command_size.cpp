#include <fmt/format.h>

#include "app/commands.hpp"

namespace tenon::app {

namespace {

std::string as_table(const std::vector<Figure>& figures) {
    std::string text;
    for (const auto& figure : figures) {
        text +=
            fmt::format("{:<31}{:>14}   = {}\n", figure.name, show_figure(figure), figure.formula);
    }
    return text;
}

}  // namespace

ExitCode run_size_links(const LinksLoad& load, OutputForm form) {
    print_items(form, size_links(load), as_table);
    return ExitCode::ok;
}

}  // namespace tenon::app
