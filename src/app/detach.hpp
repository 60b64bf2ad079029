// `tenon dev --detach`: a process of its own that outlives the terminal.
#pragma once

#include <filesystem>
#include <optional>

#include "app/commands.hpp"
#include "app/log_file.hpp"

namespace tenon::app {

/// Where a detached server of that data folder logs.
[[nodiscard]] LogFile log_of(const std::filesystem::path& data);

/// Splits this process in two: one becomes the server, the other waits until it serves.
///
/// Shape:   in the server, nullopt: go on as it. It has a session of its own, stdin from nothing,
///          and its words go to FOLDER/log/tenon.log. In the other, the exit code of the command:
///          ok once /readyz answers 200 (and what was asked for is printed), the server's own code
///          when it ended instead (with the last lines of what it said), not_ready when it takes
///          too long, interrupted after a signal; but for ok, the server has ended by then.
/// Expects: this process has one thread.
/// Errors:  CommandError when the folder or the log cannot be written.
[[nodiscard]] std::optional<ExitCode> detach(const DevOptions& options);

}  // namespace tenon::app
