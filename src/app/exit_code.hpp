// How every command ends.
#pragma once

#include <string_view>

namespace tenon::app {

/// The exit codes of every command.
enum class ExitCode : int {
    ok = 0,
    failed = 1,
    usage = 2,
    check_failed = 3,
    unauthenticated = 4,
    not_ready = 5,
    interrupted = 130,
};

/// An exit code as `tenon --help` and docs/operations.md explain it.
struct ExitCodeDoc {
    ExitCode code;
    std::string_view meaning;
};

inline constexpr ExitCodeDoc exit_code_docs[] = {
    {ExitCode::ok, "ok"},
    {ExitCode::failed, "failed; one sentence on standard error says why and what to do"},
    {ExitCode::usage, "usage; the command line was not understood"},
    {ExitCode::check_failed, "a check failed"},
    {ExitCode::unauthenticated, "not authenticated; the key is not accepted"},
    {ExitCode::not_ready, "not ready; nothing runs there or an engine is away, and it may come"},
    {ExitCode::interrupted, "interrupted by SIGINT or SIGTERM before the end"},
};

/// What main returns.
[[nodiscard]] constexpr int to_int(ExitCode code) {
    return static_cast<int>(code);
}

}  // namespace tenon::app
