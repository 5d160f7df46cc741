#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "net/http_client/connecting.hpp"
#include "net/http_client/http_client.hpp"
#include "net/io/deadlines.hpp"
#include "net/io/multiplexer.hpp"
#include "net/io/stream.hpp"
#include "net/io/timer.hpp"

namespace proteus::net {

// The idle connections and links to one host, or to one proxy for all http hosts. Lives while it has any, or while an
// exchange uses it.
struct HostPool {
  struct Idle {
    Stream stream;
    Clock::Monotonic since;
    Clock::Monotonic until;
    std::uint64_t filter_version;
  };
  std::string key;
  std::vector<Idle> idle;  // the most recently used is last, and is reused first
  struct Link {
    std::shared_ptr<Multiplexer> way;
    Clock::Monotonic until;  // when to close it if it is unused
  };
  std::vector<Link> links;
  std::size_t users = 0;

  bool is_unused() const { return users == 0 && idle.empty() && links.empty(); }
};

// What the exchanges of one client share: pools, deadlines, spare exchanges. Outlives the client while responses need
// it.
class ClientCore : public std::enable_shared_from_this<ClientCore> {
 public:
  ClientCore(boost::asio::io_context& io, const Clock& clock, HttpClientOptions options);
  ~ClientCore();

  const HttpClientOptions& options() const { return options_; }
  const Clock& clock() const { return clock_; }
  Deadlines& deadlines() { return deadlines_; }
  Connecting::Means means();

  // Counts the users of the pool: each `enter` needs one `leave`.
  HostPool& enter(std::string_view key);
  void leave(HostPool& host);

  // Takes an idle connection that the host has not closed, and is not about to close, and that the filter allows now.
  // Returns nothing if there is none.
  std::optional<HostPool::Idle> take_idle(HostPool& host);
  // Keeps the connection for reuse, or closes it. `version` is the filter version under which it was opened.
  void give_back(HostPool& host, Stream stream, std::chrono::milliseconds idle_time, std::uint64_t version);
  // Opens a stream over an existing link that has room. Returns nothing if there is none.
  std::optional<Stream> open_over_link(HostPool& host);
  // Makes a new connection a link and opens a stream over it, unless another link has room by now.
  Stream open_over(HostPool& host, Stream link);
  std::uint64_t filter_version() const {
    return options_.filter_version == nullptr ? 0 : options_.filter_version->load(std::memory_order_acquire);
  }

  // Returns a new exchange, or one that was used before.
  std::unique_ptr<ClientExchange> new_exchange();
  void recycle(std::unique_ptr<ClientExchange> exchange);

  // Ensures that deadlines are checked at `sweep_interval`.
  void arm();
  void sweep();

  void close();
  bool is_closed() const { return closed_; }

  void count_opened() { ++opened_; }
  HttpClient::Stats stats() const;

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };
  enum class Pace : std::uint8_t { off, slow, fast };

  void arm(Pace pace);
  void drop_spare(Clock::Monotonic now);
  void drop_unused(HostPool& host, Clock::Monotonic now) const;
  Result<TlsContext> tls();

  boost::asio::io_context& io_;
  const Clock& clock_;
  HttpClientOptions options_;
  Deadlines deadlines_;
  std::unordered_map<std::string, HostPool, Hash, std::equal_to<>> hosts_;
  std::vector<std::unique_ptr<ClientExchange>> spare_;
  std::size_t unneeded_ = 0;  // spare exchanges that were not needed since the last `drop_spare`
  Clock::Monotonic look_at_spare_{};
  Timer timer_;
  Pace pace_ = Pace::off;
  bool closed_ = false;
  std::size_t opened_ = 0;
  std::size_t reused_ = 0;
};

}  // namespace proteus::net
