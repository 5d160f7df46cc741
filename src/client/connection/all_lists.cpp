#include "client/connection/all_lists.hpp"

#include <algorithm>
#include <utility>

#include <boost/asio/this_coro.hpp>

#include "base/log/log.hpp"
#include "base/tasks/task_group.hpp"

namespace proteus::client {
namespace {

// Returns whether an error concerns the whole server, so that requesting other lists would fail or do harm.
bool is_about_the_server(const Error& error) {
  return error.kind() == ErrorKind::unreachable || error.kind() == ErrorKind::cancelled ||
         error.retry_after().count() > 0;
}

// Adds the method to an error that does not name it, such as an error from the server.
Error naming(std::string_view method, Error error) {
  if (is_about_the_server(error) || error.message().contains(method)) return error;
  return std::move(error).within(method);
}

// One reading of the lists. Must outlive the tasks it starts.
class Sweep {
 public:
  Sweep(Connection& connection, std::string meta) : connection_(connection), meta_(std::move(meta)) {}

  Task<AllLists> run(catalog::KindSet kinds) {
    const auto opened = co_await connection_.open();
    if (!opened) hopeless_ = opened.error();
    std::vector<catalog::Kind> left;
    for (const catalog::Kind kind : catalog::kKinds) {
      if (!kinds.has(kind)) continue;
      if (hopeless_ || mcp::offers((*opened)->offers, catalog::info(kind).list_method)) {
        left.push_back(kind);
      } else {
        all_.lists[kind].emplace();
      }
    }
    const auto end = std::chrono::steady_clock::now() + static_cast<int>(left.size()) * connection_.timeout();
    bool too_slow = false;
    while (!left.empty() && !too_slow && !hopeless_) {
      const catalog::Kind kind = left.front();
      left.erase(left.begin());
      const auto time = std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
      co_await read(kind, time);
      too_slow = errors_[kind] && errors_[kind]->kind() == ErrorKind::timeout;
    }
    if (hopeless_) {
      for (const catalog::Kind kind : left)
        errors_[kind] = *hopeless_;
    } else if (!left.empty()) {
      TaskGroup reading(co_await boost::asio::this_coro::executor);
      for (const catalog::Kind kind : left)
        reading.spawn("reading a list", read(kind, connection_.timeout()));
      co_await reading.join();
    }
    co_return conclude(kinds);
  }

 private:
  Task<> read(catalog::Kind kind, std::chrono::milliseconds time) {
    errors_[kind] = errors::cancelled("the reading");  // remains if this coroutine ends by an exception
    RequestOptions options;
    options.meta = meta_;
    options.list_timeout = time;
    auto listing = co_await connection_.list(catalog::info(kind).list_method, std::move(options));
    if (listing) {
      errors_[kind].reset();
      all_.lists[kind] = std::move(*listing);
      co_return;
    }
    if (is_about_the_server(listing.error())) hopeless_ = listing.error();
    errors_[kind] = std::move(listing.error());
  }

  AllLists conclude(catalog::KindSet kinds) {
    bool any = false;
    for (const catalog::Kind kind : catalog::kKinds) {
      if (!kinds.has(kind)) continue;
      const std::string_view method = mcp::to_string(catalog::info(kind).list_method);
      if (errors_[kind]) {
        const Error& error = all_.failures[kind].emplace(naming(method, *errors_[kind]));
        all_.faults.push_back({kind, ListFault::Cause::failed, error.message()});
        if (!all_.failure) all_.failure = error;
        continue;
      }
      const Listing& listing = *all_.lists[kind];
      any = any || !listing.pages.empty();
      // No capability declares templates: they come with resources.
      if (listing.unimplemented && kind != catalog::Kind::resource_template) {
        const Error error = naming(method, *listing.unimplemented);
        all_.faults.push_back({kind, ListFault::Cause::unimplemented, error.message()});
      }
    }
    if (!all_.failure) all_.failure = std::move(hopeless_);
    all_.any = any || !all_.failure;
    return std::move(all_);
  }

  Connection& connection_;
  const std::string meta_;
  catalog::PerKind<std::optional<Error>> errors_;
  std::optional<Error> hopeless_;
  AllLists all_;
};

}  // namespace

std::string_view to_string(ListFault::Cause cause) {
  return cause == ListFault::Cause::unimplemented ? "unimplemented" : "failed";
}

Task<AllLists> read_all_lists(Connection& connection, catalog::KindSet kinds, std::string meta) {
  Sweep sweep(connection, std::move(meta));
  co_return co_await sweep.run(kinds);
}

void log_unimplemented(std::string_view server, const std::vector<ListFault>& before,
                       const std::vector<ListFault>& now) {
  for (const ListFault& fault : now) {
    if (fault.cause != ListFault::Cause::unimplemented || std::ranges::find(before, fault) != before.end()) continue;
    log::warning("{} declares {} and does not list them: {}", server, catalog::info(fault.kind).member,
                 log::printable(fault.message, 200));
  }
}

}  // namespace proteus::client
