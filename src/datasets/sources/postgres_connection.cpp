#include "datasets/sources/postgres_connection.hpp"

#include <algorithm>
#include <array>
#include <cerrno>

#include <fmt/format.h>
#include <poll.h>

#include "base/log/line_limit.hpp"
#include "base/log/log.hpp"

namespace proteus::datasets {
namespace {

enum class For : std::uint8_t { reading, writing, either };

constexpr std::chrono::milliseconds kLook{50};  // how often a wait checks whether its caller gave up

// Lets the server end a statement when its connection is closed, if it has the setting (version 14 and above) and its
// system supports it. Otherwise the time limit of the statement ends it.
constexpr std::string_view kLookForClosed =
    "SELECT set_config(name, '1000', false) FROM pg_catalog.pg_settings "
    "WHERE name = 'client_connection_check_interval'";

short events_of(For direction) {
  switch (direction) {
    case For::reading: return POLLIN;
    case For::writing: return POLLOUT;
    case For::either: break;
  }
  return POLLIN | POLLOUT;
}

// Returns false if patience is over.
bool wait(int socket, For direction, const Patience& patience) {
  pollfd entry{.fd = socket, .events = events_of(direction), .revents = 0};
  while (!patience.is_over()) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(patience.until - std::chrono::steady_clock::now());
    const int ready =
        ::poll(&entry, 1, static_cast<int>(std::clamp(left, std::chrono::milliseconds(1), kLook).count()));
    if (ready > 0 || (ready < 0 && errno != EINTR)) return true;
  }
  return false;
}

// Returns what the server says about a statement. It never contains parameters of the connection.
std::string message_of(PGresult* result) {
  const char* text = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
  return log::printable(text == nullptr ? "it gave no reason" : text, 300);
}

std::string_view code_of(PGresult* result) {
  const char* field = PQresultErrorField(result, PG_DIAG_SQLSTATE);
  return field == nullptr ? "" : field;
}

// Every call of an agent may fail like this, so the lines are limited.
void warn(std::string_view what, const PGconn* connection) {
  static LineLimit lines(10);
  const auto omitted = lines.take(std::chrono::steady_clock::now());
  if (!omitted) return;
  log::warning("{}: {}{}", what, log::printable(PQerrorMessage(connection), 300),
               *omitted > 0 ? fmt::format(" ({} such lines were left out)", *omitted) : "");
}

// Returns whether the tables, columns or types may have changed since the statement was written.
bool is_outdated(PGresult* result) {
  const std::string_view code = code_of(result);
  return (code.starts_with("42") && code != "42501") || code.starts_with("0A");
}

// Decides by the class of the error code, see "PostgreSQL Error Codes" in the manual.
Error statement_error(PGresult* result, const Patience& patience) {
  const std::string_view code = code_of(result);
  if (code == "57014") return patience.is_over() ? patience.error() : errors::timeout("a statement of the source");
  if (code == "55P03") return errors::timeout("waiting for a lock of the source");
  if (code == "42501") return errors::forbidden(fmt::format("the source refuses: {}", message_of(result)));
  if (code.starts_with("08") || code.starts_with("57P") || code.starts_with("53"))
    return errors::unreachable(fmt::format("the source cannot answer: {}", message_of(result)));
  return errors::invalid(message_of(result));
}

std::vector<const char*> pointers(std::span<const std::string> parameters) {
  std::vector<const char*> all;
  all.reserve(parameters.size());
  for (const auto& text : parameters)
    all.push_back(text.c_str());
  return all;
}

}  // namespace

Result<PostgresConnection> PostgresConnection::open(const Secret& url, const Patience& patience) {
  const std::array<const char*, 5> keywords = {"dbname", "client_encoding", "application_name", "connect_timeout",
                                               nullptr};
  const std::array<const char*, 5> values = {url.reveal().c_str(), "UTF8", "proteus", "10", nullptr};
  PostgresConnection connection(PQconnectStartParams(keywords.data(), values.data(), 1));
  if (!connection.connection_) return std::unexpected(errors::exhausted("no memory for a connection to the source"));
  // libpq's message about an unreadable URL quotes parts of it.
  if (PQstatus(connection.connection_.get()) == CONNECTION_BAD)
    return std::unexpected(errors::invalid("the address of the source is not a usable PostgreSQL URL"));
  if (auto connected = connection.connect(patience); !connected) return std::unexpected(std::move(connected.error()));
  for (const char* const sql : {"SET default_transaction_read_only = on", "SET standard_conforming_strings = on",
                                "SET idle_in_transaction_session_timeout = 60000"}) {
    if (auto set = connection.ask(sql, {}, patience); !set) return std::unexpected(std::move(set.error()));
  }
  if (auto set = connection.ask(std::string(kLookForClosed), {}, patience); !set && !connection.is_usable())
    return std::unexpected(std::move(set.error()));
  return connection;
}

Result<> PostgresConnection::connect(const Patience& patience) {
  PGconn* const connection = connection_.get();
  PostgresPollingStatusType state = PGRES_POLLING_WRITING;
  while (state == PGRES_POLLING_READING || state == PGRES_POLLING_WRITING) {
    const For direction = state == PGRES_POLLING_READING ? For::reading : For::writing;
    if (!wait(PQsocket(connection), direction, patience))
      return std::unexpected(errors::timeout("connecting to the source"));
    state = PQconnectPoll(connection);
  }
  if (state == PGRES_POLLING_OK && PQsetnonblocking(connection, 1) == 0) return {};
  warn("a source cannot be reached", connection);
  return std::unexpected(errors::unreachable("the database server of the source does not accept the connection"));
}

Result<PostgresResult> PostgresConnection::ask(const std::string& sql, std::span<const std::string> parameters,
                                               const Patience& patience) {
  const auto values = pointers(parameters);
  if (PQsendQueryParams(connection_.get(), sql.c_str(), static_cast<int>(values.size()), nullptr, values.data(),
                        nullptr, nullptr, 0) == 0)
    return std::unexpected(lost());
  return receive(patience);
}

Result<> PostgresConnection::prepare(const std::string& name, const std::string& sql, const Patience& patience) {
  if (PQsendPrepare(connection_.get(), name.c_str(), sql.c_str(), 0, nullptr) == 0) return std::unexpected(lost());
  auto prepared = receive(patience);
  if (!prepared) return std::unexpected(std::move(prepared.error()));
  return {};
}

Result<PostgresResult> PostgresConnection::ask_prepared(const std::string& name,
                                                        std::span<const std::string> parameters,
                                                        const Patience& patience) {
  const auto values = pointers(parameters);
  if (PQsendQueryPrepared(connection_.get(), name.c_str(), static_cast<int>(values.size()), values.data(), nullptr,
                          nullptr, 0) == 0)
    return std::unexpected(lost());
  return receive(patience);
}

Result<PostgresResult> PostgresConnection::receive(const Patience& patience) {
  PGconn* const connection = connection_.get();
  std::optional<PostgresResult> last;
  for (;;) {
    while (PQisBusy(connection) != 0) {
      const int unsent = PQflush(connection);
      if (unsent < 0) return std::unexpected(lost());
      if (!wait(PQsocket(connection), unsent > 0 ? For::either : For::reading, patience))
        return std::unexpected(give_up(patience));
      if (PQconsumeInput(connection) == 0) return std::unexpected(lost());
    }
    PGresult* const next = PQgetResult(connection);
    if (next == nullptr) break;
    last.emplace(next);
  }
  if (!last) return std::unexpected(lost());
  const auto status = PQresultStatus(last->get());
  if (status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK) return std::move(*last);
  if (is_outdated(last->get())) usable_ = false;
  return std::unexpected(statement_error(last->get(), patience));
}

Error PostgresConnection::lost() {
  usable_ = false;
  warn("a source was lost", connection_.get());
  return errors::interrupted("the connection to the source broke");
}

// Closes the connection, so that a late answer cannot be taken for the answer to another statement. `PQcancel` would
// connect and wait for as long as the server likes.
Error PostgresConnection::give_up(const Patience& patience) {
  usable_ = false;
  connection_.reset();
  return patience.error();
}

Result<std::string> PostgresConnection::quote(std::string_view identifier) const {
  char* const quoted = PQescapeIdentifier(connection_.get(), identifier.data(), identifier.size());
  if (quoted == nullptr)
    return std::unexpected(errors::invalid("a name in the mapping is not valid text for PostgreSQL"));
  std::string text(quoted);
  PQfreemem(quoted);
  return text;
}

}  // namespace proteus::datasets
