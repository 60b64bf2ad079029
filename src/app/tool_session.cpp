#include "app/tool_session.hpp"

#include "app/instance.hpp"
#include "app/topology.hpp"

namespace tenon::app {

ToolSession::ToolSession(const Config& config)
    : cores_(1, clock_), cache_({.bytes_max = 1 << 20, .seed = std::nullopt}) {
    auto map = std::make_shared<const storage::Map>(storage::map_of(find_map(config).record));
    cores_.start();
    cores_.on_each([&](runtime::Core& core) {
        database_ = std::make_unique<storage::Database>(core, map, pool_options(config),
                                                        control_options(config));
        keys_ = std::make_unique<access::Keys>(core, *database_, cache_);
        store_ = std::make_unique<access::Store>(*database_);
    });
}

ToolSession::~ToolSession() {
    auto call = make_call();
    run(close(call));
    cores_.on_each([this](runtime::Core&) {
        store_.reset();
        keys_.reset();
        database_.reset();
    });
    cores_.stop();
}

boost::asio::awaitable<void> ToolSession::close(runtime::Call& call) {
    co_await keys_->close();
    co_await database_->close(call);
}

}  // namespace tenon::app
