#include "storage/roles.hpp"

#include <fmt/format.h>

#include "storage/catalog.hpp"
#include "storage/errors.hpp"

namespace tenon::storage {

base::Result<> grant_serving(Session& session, std::span<const Migration> files,
                             const std::string& role) {
    const auto known =
        session.run("SELECT quote_ident(rolname) FROM pg_roles WHERE rolname = $1", {role});
    if (known.empty()) {
        return base::fail(errors::no_role,
                          fmt::format("Node {} has no role {}. Make it with: CREATE ROLE {} LOGIN",
                                      session.node(), role, role));
    }
    const std::string name = known[0][0].value_or("");
    session.run("BEGIN");
    for (const std::string& schema : schemas_of(files)) {
        session.run(fmt::format("GRANT USAGE ON SCHEMA {} TO {}", schema, name));
        session.run(fmt::format(
            "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {} TO {}", schema, name));
        session.run(fmt::format("GRANT EXECUTE ON ALL ROUTINES IN SCHEMA {} TO {}", schema, name));
    }
    // What was applied is the owner's to say.
    session.run(fmt::format("REVOKE INSERT, UPDATE, DELETE ON tenon.migrations FROM {}", name));
    session.run("COMMIT");
    return {};
}

}  // namespace tenon::storage
