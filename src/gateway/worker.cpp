#include "gateway/worker.hpp"

#include <algorithm>

#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/memory.hpp"
#include "client/transports.hpp"
#include "gateway/sight.hpp"
#include "providers/declaring.hpp"

namespace proteus::gateway {
namespace {

constexpr std::size_t kViews = 4096;
constexpr std::size_t kManyViews = 64;
// A thread gives back what others have freed of it, too, and they may take their time: for two minutes or so.
constexpr int kGiveBack = 24;
// Whoever waits for an answer has a deadline of its own.
constexpr std::chrono::hours kNeverOfItself{24};

}  // namespace

Worker::Worker(boost::asio::io_context& io, const Clock& clock, const catalog::Catalog& catalog,
               const UpstreamTables& tables, const Published<Access>& access, QuotaTable& quotas,
               net::HttpClientOptions http)
    : io_(io),
      http_(io, clock, std::move(http)),
      reader_(catalog),
      views_(clock, kViews),
      access_(access),
      tables_(tables),
      quotas_(quotas, clock),
      flights_(io.get_executor()),
      table_(tables_.get().get()),
      left_behind_(io.get_executor()),
      closing_(io.get_executor()) {}

std::shared_ptr<const catalog::View> Worker::view(const server::Caller& caller) {
  const Sight sight(caller, outlook(caller));
  return views_.get(reader_.current(), sight.fingerprint(), [&] { return sight.layers(); });
}

void Worker::drop_views_unused_since(Clock::Monotonic time) {
  const std::size_t before = views_.size();
  views_.drop_unused_since(time);
  if (views_.size() + kManyViews <= before) give_back_ = kGiveBack;
  if (give_back_ == 0) return;
  --give_back_;
  give_back_memory();
}

const UpstreamTable& Worker::upstreams() {
  if (table_ != tables_.get().get()) [[unlikely]] {
    table_ = tables_.get().get();
    // Connections to what is no longer there are closed when the last call on them has ended.
    const auto gone = [this](std::uint64_t instance) {
      return std::ranges::none_of(table_->order, [&](const auto& served) { return served.instance == instance; });
    };
    std::erase_if(shared_, [&](const auto& entry) { return gone(entry.first); });
    std::erase_if(express_, [&](const auto& entry) { return gone(entry.first); });
    std::erase_if(by_principal_, [&](const auto& entry) { return gone(entry.first.first); });
  }
  return *table_;
}

CallerConnection Worker::shared_connection(const ServedUpstream& upstream) {
  CallerConnection& connection = shared_[upstream.instance];
  if (!connection) connection = make(*upstream.upstream, upstream->options());
  return connection;
}

client::Express* Worker::express(const ServedUpstream& upstream) {
  const auto* url = std::get_if<net::Url>(&upstream->endpoint());
  if (url == nullptr || upstream->settings().effective_transport() != providers::Transport::streamable_http) {
    return nullptr;
  }
  if (!upstream->is_modern()) return nullptr;
  auto& express = express_[upstream.instance];
  if (!express) express = std::make_unique<client::Express>(http_, *url, upstream->options());
  return express.get();
}

CallerConnection Worker::own_connection_of(const ServedUpstream& upstream, const std::string& principal) {
  CallerConnection& connection = by_principal_[{upstream.instance, principal}];
  if (connection) return connection;
  client::Options options = upstream->options();
  // What a client can be asked for is told by each of its requests, and to a session of the upstream only once.
  options.handlers = *providers::declare_everything(providers::refuse_question);
  options.handler_timeout = kNeverOfItself;
  return connection = make(*upstream.upstream, std::move(options));
}

void Worker::give_up(std::uint64_t instance, const CallerConnection& connection) {
  std::erase_if(by_principal_,
                [&](const auto& entry) { return entry.first.first == instance && entry.second == connection; });
}

CallerConnection Worker::own_connection(const providers::Upstream& upstream, client::Handlers handlers) {
  client::Options options = upstream.options();
  options.handlers = std::move(handlers);
  return make(upstream, std::move(options));
}

CallerConnection Worker::make(const providers::Upstream& upstream, client::Options options) {
  auto connection = std::make_unique<client::Connection>(
      io_.get_executor(), client::transports_to(upstream.endpoint(), io_, http_), std::move(options));
  ++open_;
  return {connection.release(), [this](client::Connection* last) {
            boost::asio::post(io_, [this, last] {
              --open_;
              closing_.spawn("closing a connection", end(std::unique_ptr<client::Connection>(last)));
            });
          }};
}

Task<> Worker::end(std::unique_ptr<client::Connection> connection) { co_await connection->close(); }

Task<> Worker::close() {
  left_behind_.cancel();
  co_await left_behind_.join();
  shared_.clear();
  by_principal_.clear();
  while (open_ > 0 || closing_.size() > 0) {
    co_await closing_.join();
    co_await boost::asio::post(io_, boost::asio::use_awaitable);
  }
  http_.close();
}

}  // namespace proteus::gateway
