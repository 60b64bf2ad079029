// The program.
#include "app/command_line.hpp"
#include "runtime/shutdown.hpp"

int main(int argc, char** argv) {
    tenon::runtime::prepare_signals();
    return tenon::app::run_command_line(argc, argv);
}
