// One core's part of the server: accepts, watches, and lets nobody wait for ever.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <memory>
#include <vector>

#include "http/connection.hpp"
#include "http/desk.hpp"
#include "http/poller.hpp"
#include "http/socket.hpp"

namespace tenon::http {

/// Owns:    the core's listening sockets and connections.
/// Threads: its core's; made and destroyed by the owner while the core does not serve.
class Worker {
public:
    Worker(runtime::Core& core, const Office& office);
    ~Worker();

    void take_listeners(std::vector<Socket> sockets);
    void start();
    /// Accepts no more and ends connections as they become idle; `ended` runs when none is left
    /// and all coroutines have ended.
    void drain(std::function<void()> ended);
    /// Ends every connection now; handlers are cancelled.
    void abort();
    /// Stops watching; `ended` runs when the core has forgotten this worker. After drain.
    void stop(std::function<void()> ended);
    [[nodiscard]] runtime::Core& core() { return desk_.core; }

private:
    class Listener;

    void accept_from(Listener& listener);
    bool accept_one(Listener& listener);
    void admit(Socket socket, std::string address);
    void pause_accepting(int error);
    void resume_accepting();
    boost::asio::awaitable<void> sweep();
    void end_overdue();
    [[nodiscard]] std::chrono::milliseconds sweep_period() const;
    [[nodiscard]] bool is_empty() const;
    boost::asio::awaitable<void> finish(std::function<void()> ended);

    Desk desk_;
    std::vector<std::unique_ptr<Listener>> listeners_;
    bool paused_ = false;
    bool started_ = false;
    runtime::TaskGroup own_tasks_;
};

}  // namespace tenon::http
