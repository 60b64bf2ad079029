// `tenon dev`: everything on this machine, until Ctrl-C.
#pragma once

#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "app/commands.hpp"
#include "app/data_folder.hpp"
#include "app/engines.hpp"
#include "app/instance.hpp"
#include "app/log_file.hpp"
#include "app/run_state.hpp"
#include "app/stop_event.hpp"

namespace tenon::app {

/// A private PostgreSQL and Redis, and the server on them.
///
/// Shape:   start() ends what an earlier run left, starts everything and writes who can be reached
///          where; watch() restarts an engine that ended, until a signal; stop() ends all in order.
/// Threads: the main thread; the engines' lives hang on it.
class Dev {
public:
    explicit Dev(DevOptions options);
    ~Dev();
    Dev(const Dev&) = delete;
    Dev& operator=(const Dev&) = delete;

    void start();
    void watch(const StopEvent& stop);
    /// False when something did not end in time.
    bool stop();

private:
    [[nodiscard]] Config make_config() const;
    void migrate(const Config& config) const;
    void start_instance();
    void ensure_key();
    void announce(std::chrono::milliseconds took) const;
    void write_state();
    void make_clusters();
    [[nodiscard]] std::size_t shards() const;
    [[nodiscard]] std::string nodes_text() const;
    [[nodiscard]] std::vector<int> running_engines();
    void stop_engines();
    void revive_ended_engines();
    template <class Engine>
    void revive(Engine& engine);

    DevOptions options_;
    DataFolder folder_;
    std::optional<LogFile> log_;            ///< of one that is detached
    std::deque<PrivatePostgres> clusters_;  ///< the control database's first, then the shards'
    PrivateRedis redis_;
    std::unique_ptr<Instance> instance_;
    RunState state_;
    static constexpr std::chrono::milliseconds revive_first{200};
    std::chrono::milliseconds pause_ = revive_first;  ///< before an engine is tried again
    std::chrono::steady_clock::time_point retry_at_;
};

}  // namespace tenon::app
