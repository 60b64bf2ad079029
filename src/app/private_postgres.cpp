#include <fmt/format.h>
#include <libpq-fe.h>
#include <pwd.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>

#include "app/engines.hpp"

namespace tenon::app {

namespace fs = std::filesystem;

namespace {

constexpr int major_oldest = 15;
/// What a fresh cluster takes, and a little.
constexpr std::uintmax_t cluster_bytes = std::uintmax_t{64} << 20;
constexpr auto make_limit = std::chrono::seconds(60);
constexpr auto start_limit = std::chrono::seconds(30);

using Connection = std::unique_ptr<PGconn, decltype(&PQfinish)>;

/// The newest installed PostgreSQL's folder; Debian keeps them apart by major version.
fs::path find_binaries() {
    for (int major = 18; major >= major_oldest; --major) {
        const fs::path folder = fmt::format("/usr/lib/postgresql/{}/bin", major);
        if (!find_program("postgres", {folder}).empty() && fs::exists(folder / "postgres")) {
            return folder;
        }
    }
    const auto on_path = find_program("postgres", {});
    if (!on_path.empty()) return on_path.parent_path();
    throw CommandError(
        "PostgreSQL is not installed (looked in /usr/lib/postgresql/15..18/bin and PATH); "
        "install it with: apt-get install postgresql-15");
}

std::string first_line(const std::string& text) {
    return text.substr(0, text.find('\n'));
}

/// The postmaster that works in a data folder; 0 when there is none, whatever the pid file says.
pid_t postmaster_in(const fs::path& data) {
    const auto pid_file = read_file(data / "postmaster.pid").value_or("");
    const auto pid = static_cast<pid_t>(std::strtol(pid_file.c_str(), nullptr, 10));
    const auto alive = processes_in(data);
    return std::ranges::find(alive, pid) == alive.end() ? 0 : pid;
}

bool says_ready(const fs::path& data) {
    const auto pid_file = read_file(data / "postmaster.pid").value_or("");
    return pid_file.find("\nready") != std::string::npos;
}

/// initdb looks its user up, whoever is named as the database's.
void check_account() {
    passwd entry{};
    passwd* found = nullptr;
    std::array<char, 4'096> texts{};
    getpwuid_r(geteuid(), &entry, texts.data(), texts.size(), &found);
    if (found != nullptr) return;
    throw CommandError(
        fmt::format("PostgreSQL needs a name for its user and user {} has none; add one with: "
                    "useradd --uid {} tenon",
                    geteuid(), geteuid()));
}

void run_sql(PGconn* connection, const std::string& sql) {
    const std::unique_ptr<PGresult, decltype(&PQclear)> result(PQexec(connection, sql.c_str()),
                                                               &PQclear);
    const auto status = PQresultStatus(result.get());
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) {
        throw CommandError(fmt::format("the private PostgreSQL refused its set-up: {}",
                                       first_line(PQerrorMessage(connection))));
    }
}

bool has_rows(PGconn* connection, const std::string& sql) {
    const std::unique_ptr<PGresult, decltype(&PQclear)> result(PQexec(connection, sql.c_str()),
                                                               &PQclear);
    return PQntuples(result.get()) > 0;
}

}  // namespace

PrivatePostgres::PrivatePostgres(const DataFolder& folder, Options options)
    : folder_(folder),
      options_(std::move(options)),
      data_(folder.engines() / options_.name),
      binaries_(find_binaries()) {}

fs::path PrivatePostgres::program(const std::string& name) const {
    return binaries_ / name;
}

void PrivatePostgres::start() {
    end_leftovers();
    if (fs::exists(data_ / "PG_VERSION")) {
        check_version();
    } else {
        check_not_lost();
        make_cluster();
    }
    launch();
    wait_until_ready();
    make_owner();
}

void PrivatePostgres::check_version() const {
    const auto of_data = first_line(read_file(data_ / "PG_VERSION").value_or(""));
    const auto of_folder = binaries_.parent_path().filename().string();
    if (of_data == of_folder || of_folder.empty() || !std::isdigit(of_folder.front())) return;
    throw CommandError(
        fmt::format("{} was made by PostgreSQL {} and this machine runs {}; install postgresql-{}, "
                    "or start with another folder by --data (nothing was touched)",
                    data_.string(), of_data, of_folder, of_data));
}

void PrivatePostgres::check_not_lost() const {
    if (!folder_.is_filled()) return;
    throw CommandError(
        fmt::format("{} is missing or empty, and the rows that were there are missing with it; put "
                    "it back, or start anew without any: rm -r {} (nothing was touched)",
                    data_.string(), folder_.path().string()));
}

void PrivatePostgres::fail(const std::string& what, const std::string& log) const {
    // On a full disk the log, which lies there too, may end before the reason.
    const auto lines = last_lines(folder_.log(log), 5);
    std::error_code unknown;
    const auto space = fs::space(folder_.engines(), unknown);
    const bool is_short = !unknown && space.available < cluster_bytes;
    if (is_short || lines.find("No space left on device") != std::string::npos) {
        throw CommandError(fmt::format(
            "{}: the disk of {} is full ({} MiB free, {} needed); free some, or choose another "
            "folder with --data",
            what, folder_.engines().string(), space.available >> 20, cluster_bytes >> 20));
    }
    throw CommandError(fmt::format("{}:\n{}", what, lines));
}

void PrivatePostgres::make_cluster() {
    check_account();
    // Made under another name and renamed when whole: a start that was cut off leaves no half.
    const auto draft = folder_.engines() / (options_.name + ".new");
    std::error_code ignored;
    fs::remove_all(draft, ignored);
    make_folder(draft, folder_.account());
    const ProgramSpec spec{
        .arguments = {program("initdb"), "--pgdata", draft, "--username=postgres", "--no-locale",
                      "--encoding=UTF8", "--auth=trust", "--no-instructions"},
        .folder = draft.parent_path(),
        .log = folder_.log("initdb"),
        .account = folder_.account()};
    if (run_program(spec, make_limit) != 0) fail("PostgreSQL's initdb failed", "initdb");
    fs::rename(draft, data_);
}

void PrivatePostgres::end_leftovers() const {
    // Every process of a cluster works in its data folder, so orphans are found without their pid.
    // Fast shutdown is for the postmaster alone: its children take SIGINT as "cancel the
    // statement".
    const auto postmaster = postmaster_in(data_);
    if (postmaster != 0) kill(postmaster, SIGINT);
    if (postmaster == 0 || !wait_for_none_in(data_, std::chrono::seconds(2))) {
        end_processes_in(data_, SIGQUIT, std::chrono::milliseconds(500));
    }
    // Nobody works there any more: a pid file names a zombie or another program.
    std::error_code ignored;
    fs::remove(data_ / "postmaster.pid", ignored);
}

void PrivatePostgres::launch() {
    const ProgramSpec spec{
        .arguments = {program("postgres"),
                      "-D",
                      data_,
                      "-c",
                      "listen_addresses=",
                      "-c",
                      fmt::format("unix_socket_directories={}", folder_.sockets().string()),
                      "-c",
                      fmt::format("port={}", options_.port),
                      "-c",
                      "max_connections=200",
                      "-c",
                      "max_locks_per_transaction=256",
                      "-c",
                      "max_prepared_transactions=64",
                      "-c",
                      "wal_level=logical",
                      "-c",
                      "max_wal_size=1GB",
                      "-c",
                      "logging_collector=off",
                      "-c",
                      "log_line_prefix=%m [%p] ",
                      "-c",
                      "recovery_init_sync_method=syncfs",
                      "-c",
                      "wal_compression=lz4"},
        .folder = data_,
        .log = folder_.log(options_.name),
        .account = folder_.account(),
        .death_signal = SIGQUIT};
    program_ = Program::start(spec);
}

std::string PrivatePostgres::conninfo() const {
    return fmt::format("host={} port={} user=tenon dbname=tenon", folder_.sockets().string(),
                       options_.port);
}

std::string PrivatePostgres::set_up_conninfo() const {
    return fmt::format("host={} port={} user=postgres dbname=postgres", folder_.sockets().string(),
                       options_.port);
}

void PrivatePostgres::wait_until_ready() {
    const auto probe = set_up_conninfo();
    const auto until = std::chrono::steady_clock::now() + start_limit;
    // The postmaster writes its state into its pid file; asking by connections fills its log.
    while (!says_ready(data_) || PQping(probe.c_str()) != PQPING_OK) {
        if (program_->wait(std::chrono::milliseconds(20))) {
            fail(fmt::format("the private PostgreSQL ended at its start ({})",
                             program_->how_it_ended()),
                 options_.name);
        }
        if (std::chrono::steady_clock::now() > until) {
            fail(fmt::format("the private PostgreSQL does not answer after {} s",
                             start_limit.count()),
                 options_.name);
        }
    }
}

void PrivatePostgres::make_owner() const {
    const auto conninfo = set_up_conninfo();
    const Connection connection(PQconnectdb(conninfo.c_str()), &PQfinish);
    if (PQstatus(connection.get()) != CONNECTION_OK) {
        throw CommandError(fmt::format("the private PostgreSQL refuses connections: {}",
                                       first_line(PQerrorMessage(connection.get()))));
    }
    if (!has_rows(connection.get(), "SELECT 1 FROM pg_roles WHERE rolname = 'tenon'")) {
        run_sql(connection.get(), "CREATE ROLE tenon LOGIN CREATEDB");
    }
    if (!has_rows(connection.get(), "SELECT 1 FROM pg_database WHERE datname = 'tenon'")) {
        run_sql(connection.get(), "CREATE DATABASE tenon OWNER tenon");
    }
}

bool PrivatePostgres::has_ended() {
    return program_->wait(std::chrono::milliseconds(0));
}

void PrivatePostgres::stop(std::chrono::milliseconds limit) {
    if (!program_) return;
    program_->send(SIGINT);
    if (!program_->wait(limit)) {
        program_->send(SIGQUIT);
        program_->wait(std::chrono::seconds(2));
    }
}

}  // namespace tenon::app
