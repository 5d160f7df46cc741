#pragma once

#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <libpq-fe.h>
#include <pwd.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/testing/test_run.hpp"
#include "base/unique_fd.hpp"
#include "store/testing/test_support.hpp"

namespace proteus::store::test {

// A PostgreSQL server in a temporary directory. If the tests run as root, it runs as the user `postgres`, because
// PostgreSQL refuses to run as root.
class PostgresServer {
 public:
  static constexpr const char* kPrograms = "/usr/lib/postgresql/15/bin";
  static bool is_installed() { return ::access("/usr/lib/postgresql/15/bin/postgres", X_OK) == 0; }

  PostgresServer() {
    if (::geteuid() == 0) {
      const passwd* user = ::getpwnam("postgres");
      if (user == nullptr || ::chown(directory_.path().c_str(), user->pw_uid, user->pw_gid) != 0)
        throw std::runtime_error("there is no user postgres");
    }
    const pid_t made = spawn({fmt::format("{}/initdb", kPrograms), "-D", data(), "-A", "trust", "-N", "-U", "postgres",
                              "--locale=C.UTF-8", "-E", "UTF8", "--no-instructions"});
    int status = 0;
    if (::waitpid(made, &status, 0) != made || status != 0) throw std::runtime_error("initdb failed");
    start();
  }
  ~PostgresServer() { stop(SIGQUIT); }
  PostgresServer(const PostgresServer&) = delete;
  PostgresServer& operator=(const PostgresServer&) = delete;

  std::string conninfo() const {
    return fmt::format("host={} user=postgres dbname=postgres", directory_.path().string());
  }
  std::string dsn() const { return dsn("postgres"); }
  std::string dsn(const std::string& database) const {
    return fmt::format("postgres://postgres@/{}?host={}", database, directory_.path().string());
  }
  pid_t pid() const { return server_; }

  // Ends the server with the signal; SIGKILL is a crash.
  void stop(int signal) {
    if (server_ == 0) return;
    ::kill(server_, signal);
    ::waitpid(server_, nullptr, 0);
    server_ = 0;
  }

  // Makes a server that was stopped start as a standby, which only reads, until `SELECT pg_promote()`.
  void become_standby() const {
    const UniqueFd made(::open((data() + "/standby.signal").c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0644));
    if (made.get() < 0) throw std::runtime_error("the server's directory cannot be written");
  }

  // Starts the server, and waits until it answers. Tries again, because processes that a crashed server left behind
  // keep a new one from starting until they have noticed the crash.
  void start() {
    const auto end = std::chrono::steady_clock::now() + proteus::test::kPatience;
    while (PQping(conninfo().c_str()) != PQPING_OK) {
      if (server_ != 0 && ::waitpid(server_, nullptr, WNOHANG) == server_) server_ = 0;
      if (server_ == 0) {
        server_ = spawn({fmt::format("{}/postgres", kPrograms), "-D", data(), "-k", directory_.path().string(), "-h",
                         "", "-F", "-c", "max_connections=60"});
      }
      if (std::chrono::steady_clock::now() > end) throw std::runtime_error("PostgreSQL does not start");
      std::this_thread::yield();
    }
  }

  // Returns the first column.
  std::vector<std::string> query(const std::string& sql, const std::string& database = "postgres") const {
    const std::unique_ptr<PGconn, void (*)(PGconn*)> connection(PQconnectdb(dsn(database).c_str()), PQfinish);
    const std::unique_ptr<PGresult, void (*)(PGresult*)> result(PQexec(connection.get(), sql.c_str()), PQclear);
    const auto status = PQresultStatus(result.get());
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
      throw std::runtime_error(std::string(PQerrorMessage(connection.get())) + " in " + sql.substr(0, 200));
    std::vector<std::string> rows;
    for (int row = 0; row < PQntuples(result.get()); ++row)
      rows.emplace_back(PQgetvalue(result.get(), row, 0));
    return rows;
  }

 private:
  std::string data() const { return (directory_.path() / "data").string(); }

  static pid_t spawn(std::vector<std::string> command) {
    if (::geteuid() == 0) {
      const std::vector<std::string> as_user = {"/usr/bin/setpriv", "--reuid=postgres", "--regid=postgres",
                                                "--clear-groups", "--pdeathsig=KILL"};
      command.insert(command.begin(), as_user.begin(), as_user.end());
    }
    std::vector<char*> arguments;
    for (auto& part : command)
      arguments.push_back(part.data());
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addchdir_np(&files, "/");
    pid_t pid = 0;
    const int failed = ::posix_spawn(&pid, arguments.front(), &files, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&files);
    if (failed != 0) throw std::runtime_error("cannot start " + command.front());
    return pid;
  }

  TemporaryDirectory directory_;
  pid_t server_ = 0;
};

}  // namespace proteus::store::test
