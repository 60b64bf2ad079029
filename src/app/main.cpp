// The program.
#include "app/command_line.hpp"
#include "runtime/shutdown.hpp"

/// What jemalloc reads at its start. Without a thread for it, memory that a crowd of connections
/// left behind goes back to the system only as others come and allocate, and an idle server keeps
/// it. The sanitizers' allocators know nothing of this.
extern "C" {
extern const char* const malloc_conf;
[[gnu::used]] const char* const malloc_conf = "background_thread:true";
}

int main(int argc, char** argv) {
    tenon::runtime::prepare_signals();
    return tenon::app::run_command_line(argc, argv);
}
