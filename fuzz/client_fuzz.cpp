// Fuzzes the client with arbitrary messages of a server, while the client connects, listens, lists and calls. Each
// message of the client is answered with the next lines of the input, up to an empty line. The first "$" in a line
// stands for the id of the client's message.
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include "base/log/log.hpp"
#include "base/log/stranger_log.hpp"
#include "client/api/inventory.hpp"
#include "client/connection/calls.hpp"
#include "client/connection/connection.hpp"
#include "client/transport/channel.hpp"

namespace {

using namespace proteus;
using namespace proteus::client;
using namespace std::chrono_literals;

struct Script {
  std::string_view rest;
  bool headers = false;
};

class ScriptedChannel final : public Channel {
 public:
  ScriptedChannel(const Executor& executor, Script& script, Inbox& inbox)
      : Channel(executor, inbox, std::make_shared<StrangerLog>("script")), script_(script) {}

  Task<Result<>> start() override {
    if (script_.rest.empty()) co_return std::unexpected(errors::unreachable("the script is at its end"));
    co_return Result<>{};
  }
  bool has_headers() const override { return script_.headers; }
  Task<> close() override {
    fail(errors::cancelled("the connection"));
    co_return;
  }

 private:
  Task<Result<>> write(const Outgoing& message) override {
    while (!script_.rest.empty()) {
      const std::size_t end = std::min(script_.rest.find('\n'), script_.rest.size());
      std::string line(script_.rest.substr(0, end));
      script_.rest.remove_prefix(std::min(end + 1, script_.rest.size()));
      if (line.empty()) break;
      if (const auto id = line.find('$'); id != std::string::npos) line.replace(id, 1, std::to_string(message.id));
      take(line, {.bytes = 4096, .depth = 32, .members = 32});
    }
    if (script_.rest.empty()) fail(errors::interrupted("the script is at its end"));
    co_return Result<>{};
  }

  Script& script_;
};

class ScriptedMaker final : public TransportMaker {
 public:
  ScriptedMaker(const Executor& executor, Script& script, Inbox& inbox)
      : executor_(executor), script_(script), inbox_(inbox) {}
  bool runs_program() const override { return true; }
  std::shared_ptr<Transport> program() override {
    return std::make_shared<ScriptedChannel>(executor_, script_, inbox_);
  }
  std::shared_ptr<Transport> streamable_http() override { return program(); }
  std::shared_ptr<Transport> old_sse() override { return program(); }

 private:
  Executor executor_;
  Script& script_;
  Inbox& inbox_;
};

Task<Result<std::string>> answer(Question) { co_return R"({"action":"accept","content":{}})"; }

Task<> converse(Connection& connection) {
  static_cast<void>(co_await connection.open());
  mcp::SubscriptionFilter wanted;
  wanted.tools = true;
  wanted.uris = {"test://x"};
  static_cast<void>(co_await connection.listen(wanted));
  const auto inventory = co_await take_inventory(connection, {}, nullptr);
  if (inventory) static_cast<void>(changes_between(nullptr, **inventory));
  RequestOptions options;
  options.on_progress = [](const mcp::Progress&) {};
  options.on_log = [](const LogEntry&) {};
  const auto called = co_await call_tool(connection, "a", R"({"x":"y"})", options);
  if (called) static_cast<void>(called->value());
  co_await connection.close();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  log::set_level(log::Level::off);
  if (size == 0) return 0;
  Script script{{reinterpret_cast<const char*>(data) + 1, size - 1}, (data[0] & 1U) != 0};
  boost::asio::io_context io;
  Options options;
  // What is not answered at once is never answered, so a millisecond is long.
  options.timeout = options.call_timeout = options.probe_timeout = options.handler_timeout = options.connect_timeout =
      1ms;
  options.reconnect_delay = options.max_reconnect_delay = 1ms;
  options.limits.lists = {.pages = 4, .entries = 64, .bytes = 65536};
  options.limits.input_rounds = 3;
  options.limits.server_requests = 4;
  options.handlers.elicit_form = options.handlers.sample = options.handlers.list_roots = answer;
  options.on_announcement = [](const Announcement&) {};
  const Executor executor = io.get_executor();
  Connection connection(
      executor, [&](const Options&, Inbox& inbox) { return std::make_unique<ScriptedMaker>(executor, script, inbox); },
      std::move(options));
  boost::asio::co_spawn(io, converse(connection), [](const std::exception_ptr& failure) {
    if (failure) std::rethrow_exception(failure);
  });
  io.run();
  return 0;
}
