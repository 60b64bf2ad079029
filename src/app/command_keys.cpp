#include <fmt/format.h>

#include "app/commands.hpp"
#include "app/data_folder.hpp"
#include "app/tool_session.hpp"
#include "base/base62.hpp"
#include "base/rfc3339.hpp"

namespace tenon::app {

using boost::asio::awaitable;

namespace {

/// A key as the commands print it; its text only when it was just made.
struct ShownKey {
    std::string id;
    std::string name;
    std::vector<std::string> scopes;
    base::Time created_at;
    std::optional<base::Time> expires_at;
    std::optional<base::Time> revoked_at;
    std::optional<base::Time> last_used_at;
    std::optional<std::string> key;
};
BOOST_DESCRIBE_STRUCT(ShownKey, (),
                      (id, name, scopes, created_at, expires_at, revoked_at, last_used_at, key))

ShownKey show(const access::Key& key, std::optional<std::string> text = std::nullopt) {
    return {.id = base::format_id("key", key.id),
            .name = key.name,
            .scopes = key.scopes,
            .created_at = key.created_at,
            .expires_at = key.expires_at,
            .revoked_at = key.revoked_at,
            .last_used_at = key.last_used_at,
            .key = std::move(text)};
}

std::string when(const std::optional<base::Time>& time) {
    return time ? base::format_time(std::chrono::floor<std::chrono::seconds>(*time)) : "-";
}

std::string as_table(const std::vector<ShownKey>& keys) {
    auto text = fmt::format("{:<27}{:<20}{:<22}{:<22}{:<22}{}\n", "id", "name", "created",
                            "last used", "ends", "scopes");
    for (const auto& key : keys) {
        const auto end = key.revoked_at ? "revoked" : when(key.expires_at);
        text += fmt::format("{:<27}{:<20}{:<22}{:<22}{:<22}{}\n", key.id, key.name,
                            when(key.created_at), when(key.last_used_at), end,
                            fmt::join(key.scopes, " "));
    }
    return text;
}

std::string as_made(const std::vector<ShownKey>& keys) {
    std::string text;
    for (const auto& key : keys) {
        text += fmt::format("{}\n", key.key.value_or(""));
    }
    return text;
}

awaitable<base::Result<ShownKey>> make(ToolSession& session, runtime::Call& call,
                                       const KeysCommand& command) {
    const access::Project wanted{.id = base::make_uuid_v4(session.core().random()),
                                 .name = command.project,
                                 .space = 0,
                                 .created_at = call.now};
    const auto project = co_await session.store().ensure_project(call, wanted);
    auto made = co_await session.keys().make(call, project.id, command.name, command.scopes);
    if (!made) co_return base::fail(std::move(made.error()));
    co_return show(made->key, std::move(made->text));
}

awaitable<base::Result<ShownKey>> rotate(ToolSession& session, runtime::Call& call, base::Uuid id,
                                         const KeysCommand& command) {
    auto made = co_await session.keys().rotate(call, id, command.overlap);
    if (!made) co_return base::fail(std::move(made.error()));
    co_return show(made->key, std::move(made->text));
}

awaitable<base::Result<ShownKey>> revoke(ToolSession& session, runtime::Call& call, base::Uuid id) {
    auto revoked = co_await session.keys().revoke(call, id);
    if (!revoked) co_return base::fail(std::move(revoked.error()));
    co_return show(*revoked);
}

awaitable<std::optional<std::vector<ShownKey>>> list(ToolSession& session, runtime::Call& call,
                                                     const KeysCommand& command) {
    const auto project = co_await session.store().find_project(call, command.project);
    if (!project) co_return std::nullopt;
    std::vector<ShownKey> shown;
    for (const auto& key : co_await session.keys().list(call, project->id)) {
        shown.push_back(show(key));
    }
    co_return shown;
}

ExitCode print_list(ToolSession& session, const KeysCommand& command) {
    auto call = session.make_call();
    const auto keys = session.run(list(session, call, command));
    if (!keys) {
        complain(
            fmt::format("there is no project '{}'; `tenon keys make NAME --project {}` makes "
                        "one with its first key",
                        command.project, command.project));
        return ExitCode::failed;
    }
    print_items(command.form, *keys, as_table);
    return ExitCode::ok;
}

/// The one key of a name that has no end yet, so that after `rotate` the name means the new one.
awaitable<base::Uuid> find_by_name(ToolSession& session, runtime::Call& call,
                                   const KeysCommand& command) {
    const auto project = co_await session.store().find_project(call, command.project);
    std::vector<base::Uuid> found;
    if (project) {
        for (const auto& key : co_await session.keys().list(call, project->id)) {
            const bool endless = !key.revoked_at && !key.expires_at;
            if (endless && key.name == command.id) found.push_back(key.id);
        }
    }
    if (found.size() == 1) co_return found.front();
    throw CommandError(
        fmt::format("{} keys without an end are called '{}' in project '{}'; name "
                    "one by its id, which `tenon keys list` shows",
                    found.size(), command.id, command.project));
}

base::Result<base::Uuid> find_id(ToolSession& session, runtime::Call& call,
                                 const KeysCommand& command) {
    // The text of a key is a secret, which no message may repeat.
    if (command.id.starts_with("tnk_")) {
        throw CommandError(
            "that is the text of a key; name it by its id, which `tenon keys list` "
            "shows");
    }
    if (command.id.starts_with("key_")) return base::parse_id("key", command.id);
    return session.run(find_by_name(session, call, command));
}

base::Result<ShownKey> change(ToolSession& session, const KeysCommand& command) {
    auto call = session.make_call();
    if (command.action == KeysCommand::Action::make) {
        return session.run(make(session, call, command));
    }
    const auto id = find_id(session, call, command);
    if (!id) return base::fail(id.error());
    if (command.action == KeysCommand::Action::rotate) {
        return session.run(rotate(session, call, *id, command));
    }
    return session.run(revoke(session, call, *id));
}

}  // namespace

ExitCode run_keys(const Sources& sources, const KeysCommand& command) {
    const auto config = load_for_tools(sources);
    if (!config) {
        complain(config.error().detail());
        return ExitCode::failed;
    }
    ToolSession session(*config);
    if (command.action == KeysCommand::Action::list) return print_list(session, command);
    const auto changed = change(session, command);
    if (!changed) {
        complain(changed.error().detail());
        return ExitCode::failed;
    }
    const bool revoked = command.action == KeysCommand::Action::revoke;
    print_items(command.form, std::vector{*changed}, revoked ? as_table : as_made);
    if (!revoked) complain(fmt::format("this is {}; its text is shown this once", changed->id));
    return ExitCode::ok;
}

}  // namespace tenon::app
