#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <thread>
#include <vector>

#include <boost/json/object.hpp>
#include <proteus/client.hpp>

#include "client/api/callback_thread.hpp"
#include "client/api/host.hpp"
#include "client/api/settings.hpp"

namespace proteus::client {

// The current connection, and the settings and listeners, which outlive each connection. Thread-safe.
class McpServer::State {
 public:
  explicit State(Settings settings) : settings_(std::move(settings)) {}
  ~State();
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  // See McpServer.
  Result<> open();
  void close();

  // Returns null if the server is not open.
  std::shared_ptr<Host> host() const;
  void add_listener(ChangeListener listener);

  // Return an error, never an empty inventory, if the server was never read.
  Result<std::shared_ptr<const Inventory>> inventory() const { return inventory(host()); }
  static Result<std::shared_ptr<const Inventory>> inventory(const std::shared_ptr<Host>& open);

  RefreshResult refresh();
  void set_polling(bool on);
  bool polls() const;

  // Returns the state `closed` if the server is not open.
  ServerHealth health() const;
  Circuit circuit() const;
  Counters counters() const;

  boost::json::object descriptor() const { return settings_.descriptor(); }

  Result<Answer> request(const CallOptions& options,
                         const std::function<Task<Result<Answer>>(Connection&, RequestOptions)>& make);
  Result<> ping();

 private:
  // A connection, and the thread of its handlers.
  struct Open {
    std::shared_ptr<Host> host;
    std::shared_ptr<CallbackThread> callbacks;
  };

  // Sets `made` also if the server could not be reached.
  Result<> connect(std::optional<Open>& made);
  static void end(const Open& open);
  std::vector<Change> shown(const catalog::Change& change) const;
  void announce(const catalog::Change& found, CallbackThread& callbacks) const;

  const Settings settings_;

  mutable std::mutex mutex_;
  std::condition_variable opened_;  // `opening_` is false again
  bool opening_ = false;
  bool closes_ = false;  // a callback has closed what is being opened
  bool ended_ = false;   // the server is being destroyed
  Open open_;            // empty if the server is not open
  std::vector<ChangeListener> listeners_;
  bool polls_ = settings_.auto_refresh;  // whether polling is wanted while the server is open
  std::jthread ending_;                  // ends the connection that a callback has closed, and joins the previous one
};

}  // namespace proteus::client
