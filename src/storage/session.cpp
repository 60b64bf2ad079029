#include "storage/session.hpp"

#include <fmt/format.h>
#include <libpq-fe.h>
#include <poll.h>

#include <cerrno>
#include <map>
#include <utility>

#include "postgres/failure.hpp"
#include "postgres/startup.hpp"
#include "runtime/failure.hpp"

namespace tenon::storage {

namespace {

struct EndConnection {
    void operator()(PGconn* connection) const { PQfinish(connection); }
};
struct ClearResult {
    void operator()(PGresult* result) const { PQclear(result); }
};
using Connection = std::unique_ptr<PGconn, EndConnection>;
using Answer = std::unique_ptr<PGresult, ClearResult>;

std::string field(const PGresult* result, int code) {
    const char* text = PQresultErrorField(result, code);
    return text == nullptr ? std::string() : std::string(text);
}

std::string trimmed(std::string text) {
    while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) {
        text.pop_back();
    }
    return text;
}

std::vector<TextRow> rows_of(const PGresult* result) {
    std::vector<TextRow> rows(static_cast<std::size_t>(PQntuples(result)));
    const int columns = PQnfields(result);
    for (int row = 0; row < PQntuples(result); ++row) {
        for (int column = 0; column < columns; ++column) {
            auto& target = rows[static_cast<std::size_t>(row)];
            if (PQgetisnull(result, row, column) != 0) {
                target.emplace_back(std::nullopt);
            } else {
                target.emplace_back(PQgetvalue(result, row, column));
            }
        }
    }
    return rows;
}

void ignore_notice(void* /*context*/, const PGresult* /*notice*/) {}

}  // namespace

struct Session::State {
    std::string node;
    Connection connection;
    std::string statement;

    /// Connects; of `settings`, only where to go is taken.
    void open(const Options& options, const std::map<std::string, std::string>& settings) {
        const std::string timeout = std::to_string(options.connect_timeout.count());
        // A conninfo in place of dbname overrides what stands before it, and what follows that.
        std::vector<const char*> names{"target_session_attrs", "dbname", "application_name",
                                       "connect_timeout", "client_encoding"};
        std::vector<const char*> values{"primary", options.conninfo.c_str(), "tenon migrate",
                                        timeout.c_str(), "UTF8"};
        for (const char* const name : {"host", "hostaddr", "port"}) {
            const auto found = settings.find(name);
            if (found == settings.end()) continue;
            names.push_back(name);
            values.push_back(found->second.c_str());
        }
        names.push_back(nullptr);
        values.push_back(nullptr);
        connection.reset(PQconnectdbParams(names.data(), values.data(), 1));
        if (PQstatus(connection.get()) != CONNECTION_OK) fail_connection();
        PQsetNoticeReceiver(connection.get(), ignore_notice, nullptr);
    }

    [[noreturn]] void fail_connection() const {
        throw runtime::Unavailable(
            fmt::format("node {}: {}", node, trimmed(PQerrorMessage(connection.get()))),
            std::chrono::seconds(1));
    }

    std::vector<TextRow> judge(const Answer& answer) const {
        const ExecStatusType status = PQresultStatus(answer.get());
        if (status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK ||
            status == PGRES_EMPTY_QUERY) {
            return rows_of(answer.get());
        }
        if (PQstatus(connection.get()) != CONNECTION_OK) {
            fail_connection();
        }
        throw postgres::QueryFailed({.sqlstate = field(answer.get(), PG_DIAG_SQLSTATE),
                                     .message = field(answer.get(), PG_DIAG_MESSAGE_PRIMARY),
                                     .detail = field(answer.get(), PG_DIAG_MESSAGE_DETAIL),
                                     .hint = field(answer.get(), PG_DIAG_MESSAGE_HINT),
                                     .constraint = field(answer.get(), PG_DIAG_CONSTRAINT_NAME),
                                     .statement = statement.substr(0, 200)});
    }
};

Session::Session(const Options& options) : state_(std::make_unique<State>()) {
    state_->node = options.node;
    state_->open(options, {});
    if (options.timeline == 0) return;
    std::optional<postgres::Startup> left = postgres::Startup(options.conninfo, {});
    while (value("SELECT tenon.timeline()") != std::to_string(options.timeline)) {
        const PGconn* const met = state_->connection.get();
        left = left->after(PQhost(met), PQport(met));
        if (!left) {
            throw runtime::Unavailable(
                fmt::format("node {}: no host is on timeline {}", options.node, options.timeline),
                std::chrono::seconds(1));
        }
        state_->open(options, left->settings());
    }
}

Session::~Session() = default;
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;

std::vector<TextRow> Session::run(const std::string& sql,
                                  std::initializer_list<std::optional<std::string>> values) {
    state_->statement = sql;
    if (values.size() == 0) {
        return state_->judge(Answer(PQexec(state_->connection.get(), sql.c_str())));
    }
    std::vector<const char*> texts;
    for (const auto& value : values) {
        texts.push_back(value ? value->c_str() : nullptr);
    }
    return state_->judge(
        Answer(PQexecParams(state_->connection.get(), sql.c_str(), static_cast<int>(texts.size()),
                            nullptr, texts.data(), nullptr, nullptr, 0)));
}

std::string Session::value(const std::string& sql,
                           std::initializer_list<std::optional<std::string>> values) {
    const auto rows = run(sql, values);
    if (rows.size() != 1 || rows[0].size() != 1 || !rows[0][0]) {
        throw std::logic_error("expected one value from: " + sql);
    }
    return *rows[0][0];
}

void Session::send(const std::string& sql) {
    state_->statement = sql;
    if (PQsendQuery(state_->connection.get(), sql.c_str()) != 1) {
        state_->fail_connection();
    }
}

bool Session::has_finished() {
    if (PQconsumeInput(state_->connection.get()) != 1) {
        return true;
    }
    return PQisBusy(state_->connection.get()) == 0;
}

std::vector<TextRow> Session::finish() {
    Answer last;
    while (PGresult* next = PQgetResult(state_->connection.get())) {
        // The first error of a script is what its caller wants to see.
        const bool failed = last && PQresultStatus(last.get()) == PGRES_FATAL_ERROR;
        Answer answer(next);
        if (!failed) {
            last = std::move(answer);
        }
    }
    return last ? state_->judge(last) : std::vector<TextRow>();
}

void Session::idle(std::chrono::milliseconds pause) {
    pollfd socket{.fd = PQsocket(state_->connection.get()), .events = POLLIN, .revents = 0};
    const int ready = ::poll(&socket, 1, static_cast<int>(pause.count()));
    if (ready > 0 && PQconsumeInput(state_->connection.get()) != 1) {
        state_->fail_connection();
    }
}

const std::string& Session::node() const {
    return state_->node;
}
int Session::process() const {
    return PQbackendPID(state_->connection.get());
}

}  // namespace tenon::storage
