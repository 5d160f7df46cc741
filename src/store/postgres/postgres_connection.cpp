#include "store/postgres/postgres_connection.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <ranges>

#include <fmt/format.h>
#include <poll.h>

#include "base/log/log.hpp"
#include "store/errors.hpp"
#include "store/postgres/postgres_statement.hpp"

namespace proteus::store {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// Returns false if `until` has passed.
bool wait_for_socket(int socket, short events, steady_clock::time_point until) {
  pollfd entry{.fd = socket, .events = events, .revents = 0};
  for (;;) {
    const auto left = std::chrono::ceil<milliseconds>(until - steady_clock::now());
    if (left <= milliseconds(0)) return false;
    const int ready = ::poll(&entry, 1, static_cast<int>(left.count()));
    if (ready > 0 || (ready < 0 && errno != EINTR)) return true;
  }
}

std::string text_or(const char* text, std::string_view other) {
  return text == nullptr || *text == '\0' ? std::string(other) : std::string(text);
}

struct FreeUrl {
  void operator()(PQconninfoOption* url) const { PQconninfoFree(url); }
};
using Url = std::unique_ptr<PQconninfoOption, FreeUrl>;

// Returns null if libpq cannot read the URL. Drops libpq's message about a bad URL, because it quotes parts of the URL.
Url read_url(const Secret& url) {
  char* message = nullptr;
  Url parsed(PQconninfoParse(url.reveal().c_str(), &message));
  PQfreemem(message);
  return parsed;
}

// One of the hosts of a URL. Empty texts stand for libpq's defaults.
struct Host {
  std::string name;
  std::string address;
  std::string port;
};

bool names_hosts(std::string_view keyword) { return keyword == "host" || keyword == "hostaddr" || keyword == "port"; }

std::vector<std::string> list_in(const Url& url, std::string_view keyword) {
  std::vector<std::string> list;
  for (const PQconninfoOption* each = url.get(); each->keyword != nullptr; ++each) {
    if (each->keyword != keyword || each->val == nullptr) continue;
    for (const auto part : std::views::split(std::string_view(each->val), ','))
      list.emplace_back(std::string_view(part));
  }
  return list;
}

// Returns nothing if the URL's lists do not match. Only a port may be the same for all hosts.
std::vector<Host> hosts_of(const Url& url) {
  const auto names = list_in(url, "host");
  const auto addresses = list_in(url, "hostaddr");
  const auto ports = list_in(url, "port");
  std::vector<Host> hosts(std::max({names.size(), addresses.size(), std::size_t{1}}));
  const auto match = [&](const auto& list) { return list.empty() || list.size() == hosts.size(); };
  if (!match(names) || !match(addresses) || (ports.size() != 1 && !match(ports))) return {};
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    if (!names.empty()) hosts[i].name = names[i];
    if (!addresses.empty()) hosts[i].address = addresses[i];
    if (!ports.empty()) hosts[i].port = ports[ports.size() == 1 ? 0 : i];
  }
  return hosts;
}

PGconn* start(const Url& url, const Host& host) {
  std::vector<const char*> keywords;
  std::vector<const char*> values;
  const auto add = [&](const char* keyword, const char* value) {
    keywords.push_back(keyword);
    values.push_back(value);
  };
  // The URL overrides the keywords in front of it; those behind it override the URL.
  add("tcp_user_timeout", "15000");
  add("keepalives_idle", "10");
  add("target_session_attrs", "primary");
  for (const PQconninfoOption* each = url.get(); each->keyword != nullptr; ++each) {
    if (!names_hosts(each->keyword)) add(each->keyword, each->val);
  }
  add("host", host.name.c_str());
  add("hostaddr", host.address.c_str());
  add("port", host.port.c_str());
  add("client_encoding", "UTF8");
  add("application_name", "proteus");
  add(nullptr, nullptr);
  return PQconnectStartParams(keywords.data(), values.data(), 0);
}

std::string name_of(PGconn* connection) {
  return fmt::format("PostgreSQL at {}:{}/{}", text_or(PQhost(connection), "localhost"),
                     text_or(PQport(connection), "5432"), text_or(PQdb(connection), "?"));
}

// Replaces each `?` by $1, $2, …; no statement of the records has `?` in a literal.
std::string with_numbers(std::string_view sql) {
  std::string text;
  int number = 0;
  for (const char c : sql) {
    if (c == '?') {
      text += fmt::format("${}", ++number);
    } else {
      text += c;
    }
  }
  return text;
}

}  // namespace

std::optional<Fault> fault_of(std::string_view sql_state) {
  if (sql_state == "53100") return Fault::full;
  // A standby refuses to write, and even to begin a transaction that may.
  if (sql_state == "25006" || sql_state == "0A000") return Fault::read_only;
  if (sql_state == "XX001" || sql_state == "XX002") return Fault::corrupt;
  if (sql_state == "55P03" || sql_state == "40P01" || sql_state == "57014") return Fault::busy;
  for (const std::string_view away : {"08", "53", "57P", "25P03", "58", "28"}) {
    if (sql_state.starts_with(away)) return Fault::unavailable;
  }
  return std::nullopt;
}

PostgresConnection::PostgresConnection(PGconn* connection, std::string name, const PostgresOptions& options)
    : Connection(std::move(name)), connection_(connection), patience_(options.statement_timeout + milliseconds(1000)) {}

// Tries the hosts one after the other, because libpq moves on to the next one only when a host refuses, and a dead host
// refuses nothing. Each gets an equal share of the time that is left.
Result<std::unique_ptr<PostgresConnection>> PostgresConnection::open(const PostgresOptions& options) {
  const Url url = read_url(options.url);
  const auto hosts = url ? hosts_of(url) : std::vector<Host>{};
  if (hosts.empty())
    return std::unexpected(proteus::errors::invalid("the address of the store is not a usable PostgreSQL URL"));
  const auto until = Clock::now() + options.connect_timeout;
  std::string causes;
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    const auto now = Clock::now();
    auto opened = open(start(url, hosts[i]), options, now + (until - now) / static_cast<Clock::rep>(hosts.size() - i));
    if (opened || hosts.size() == 1) return opened;
    causes += (causes.empty() ? "" : "; ") + opened.error().message();
  }
  return std::unexpected(proteus::errors::exhausted(std::move(causes)));
}

Result<std::unique_ptr<PostgresConnection>> PostgresConnection::open(PGconn* started, const PostgresOptions& options,
                                                                     Clock::time_point until) {
  if (started == nullptr) return std::unexpected(proteus::errors::exhausted("no memory for a connection to the store"));
  std::unique_ptr<PostgresConnection> connection(new PostgresConnection(started, name_of(started), options));
  if (PQstatus(started) == CONNECTION_BAD) return std::unexpected(connection->lost(PQerrorMessage(started)));
  // Drops notices, such as that a table exists already.
  PQsetNoticeProcessor(started, [](void*, const char*) {}, nullptr);
  if (auto done = connection->connect(until); !done) return std::unexpected(std::move(done.error()));
  if (auto done = connection->set_up(options); !done) return std::unexpected(std::move(done.error()));
  return connection;
}

Result<> PostgresConnection::connect(Clock::time_point until) {
  PGconn* const connection = connection_.get();
  PostgresPollingStatusType state = PGRES_POLLING_WRITING;
  while (state == PGRES_POLLING_READING || state == PGRES_POLLING_WRITING) {
    const short events = state == PGRES_POLLING_READING ? POLLIN : POLLOUT;
    if (!wait_for_socket(PQsocket(connection), events, until))
      return std::unexpected(lost("it does not answer in time"));
    state = PQconnectPoll(connection);
  }
  if (state == PGRES_POLLING_OK && PQsetnonblocking(connection, 1) == 0) return {};
  return std::unexpected(lost(PQerrorMessage(connection)));
}

Result<> PostgresConnection::set_up(const PostgresOptions& options) {
  return execute(
      fmt::format("SET search_path = proteus; SET statement_timeout = {}; SET lock_timeout = {};"
                  " SET idle_in_transaction_session_timeout = {};"
                  " SELECT set_config('synchronous_commit', 'on', false)"
                  " WHERE current_setting('synchronous_commit') = 'off'",
                  options.statement_timeout.count(), options.turn_timeout.count(), options.idle_timeout.count()));
}

sql::Query PostgresConnection::query(std::string_view sql) {
  return sql::Query(std::make_unique<PostgresStatement>(*this, std::string(sql)));
}

Result<> PostgresConnection::execute(const std::string& sql) {
  if (!is_usable() || PQsendQuery(connection_.get(), sql.c_str()) == 0)
    return std::unexpected(lost("the connection is closed"));
  auto received = receive();
  if (!received) return std::unexpected(std::move(received.error()));
  return {};
}

Result<> PostgresConnection::begin_reading() { return execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"); }
Result<> PostgresConnection::end_reading() { return execute("COMMIT"); }

// The row is the turn of all writers (ADR 34). Each statement after the lock sees what was committed before the turn
// came.
Result<> PostgresConnection::begin_writing() {
  return execute(
      "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; SELECT value FROM counters WHERE name = 'feed' FOR UPDATE");
}
Result<> PostgresConnection::end_writing(sql::Ending ending) {
  return execute(ending == sql::Ending::commit ? "COMMIT" : "ROLLBACK");
}

Result<std::int64_t> PostgresConnection::now() {
  auto row = query("SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint");
  const auto found = row.step();
  if (!found) return std::unexpected(found.error());
  return row.integer(0);
}

Result<std::string> PostgresConnection::prepared(std::string_view sql, std::span<const PostgresParameter> parameters) {
  const auto found = prepared_.find(sql);
  if (found != prepared_.end()) return found->second;
  std::vector<Oid> types;
  for (const auto& parameter : parameters)
    types.push_back(parameter.type);
  std::string name = fmt::format("s{}", prepared_.size());
  if (PQsendPrepare(connection_.get(), name.c_str(), with_numbers(sql).c_str(), static_cast<int>(types.size()),
                    types.data()) == 0)
    return std::unexpected(lost("the connection is closed"));
  auto done = receive();
  if (!done) return std::unexpected(std::move(done.error()));
  prepared_.emplace(std::string(sql), name);
  return name;
}

Result<PostgresResult> PostgresConnection::run(std::string_view sql, std::span<const PostgresParameter> parameters) {
  if (!is_usable()) return std::unexpected(lost("the connection is closed"));
  const auto name = prepared(sql, parameters);
  if (!name) return std::unexpected(name.error());
  std::vector<const char*> values;
  std::vector<int> sizes;
  for (const auto& parameter : parameters) {
    values.push_back(parameter.data);
    sizes.push_back(parameter.size);
  }
  const std::vector<int> binary(parameters.size(), 1);
  if (PQsendQueryPrepared(connection_.get(), name->c_str(), static_cast<int>(values.size()), values.data(),
                          sizes.data(), binary.data(), 1) == 0)
    return std::unexpected(lost("the connection is closed"));
  return receive();
}

Result<PostgresResult> PostgresConnection::receive() {
  PGconn* const connection = connection_.get();
  const auto until = Clock::now() + patience_;
  PostgresResult last;
  PostgresResult failed;
  for (;;) {
    while (PQisBusy(connection) != 0) {
      const int unsent = PQflush(connection);
      if (unsent < 0) return std::unexpected(lost(PQerrorMessage(connection)));
      const short events = unsent > 0 ? POLLIN | POLLOUT : POLLIN;
      if (!wait_for_socket(PQsocket(connection), events, until))
        return std::unexpected(lost("it does not answer in time"));
      if (PQconsumeInput(connection) == 0) return std::unexpected(lost(PQerrorMessage(connection)));
    }
    PGresult* const next = PQgetResult(connection);
    if (next == nullptr) break;
    const auto status = PQresultStatus(next);
    (status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK ? last : failed).reset(next);
  }
  if (failed) return std::unexpected(refused(failed.get()));
  if (!last) return std::unexpected(lost(PQerrorMessage(connection)));
  return last;
}

// Closes the connection, so that a late answer cannot be taken for the answer to a later statement.
Error PostgresConnection::lost(std::string_view cause) {
  Error error = errors::store_away(name(), log::printable(cause, 300));
  connection_.reset();
  note(Fault::unavailable, error.message());
  return error;
}

Error PostgresConnection::refused(const PGresult* result) {
  const std::string state = text_or(PQresultErrorField(result, PG_DIAG_SQLSTATE), "");
  const std::string message =
      log::printable(text_or(PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY), "it gave no reason"), 300);
  // A message without a SQLSTATE comes from libpq: the connection broke.
  if (state.empty() || PQstatus(connection_.get()) != CONNECTION_OK) return lost(message);
  const auto fault = fault_of(state);
  if (!fault) return proteus::errors::internal(fmt::format("{}: {}", name(), message));
  if (*fault == Fault::unavailable) return lost(message);
  Error error = errors::store_fault(*fault, name(), message);
  // The next connection may lead to the server that has become the primary.
  if (*fault == Fault::read_only) connection_.reset();
  note(*fault, error.message());
  return error;
}

Result<bool> PostgresConnection::wait_for_notification(int stop, std::chrono::milliseconds time) {
  if (!is_usable()) return std::unexpected(lost("the connection is closed"));
  std::array<pollfd, 2> entries = {pollfd{.fd = PQsocket(connection_.get()), .events = POLLIN, .revents = 0},
                                   pollfd{.fd = stop, .events = POLLIN, .revents = 0}};
  const int ready = ::poll(entries.data(), entries.size(), static_cast<int>(time.count()));
  if (ready > 0 && entries[0].revents != 0 && PQconsumeInput(connection_.get()) == 0)
    return std::unexpected(lost(PQerrorMessage(connection_.get())));
  bool any = false;
  while (PGnotify* const notification = PQnotifies(connection_.get())) {
    PQfreemem(notification);
    any = true;
  }
  return any;
}

}  // namespace proteus::store
