#include "gateway/sessions/tool_clients.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace proteus::gateway {

ToolClients::ToolClients(net::Workers& workers, const Clock& clock, const net::HttpClientOptions& options)
    : workers_(workers) {
  clients_.reserve(workers.size());
  for (std::size_t i = 0; i < workers.size(); ++i)
    clients_.push_back(std::make_unique<net::HttpClient>(workers.at(i), clock, options));
}

net::HttpClient& ToolClients::here() const { return *clients_[workers_.here()]; }

Task<> ToolClients::close() {
  const auto close_one = [](net::HttpClient& client) -> Task<> {
    client.close();
    co_return;
  };
  for (std::size_t i = 0; i < clients_.size(); ++i)
    co_await boost::asio::co_spawn(workers_.at(i), close_one(*clients_[i]), boost::asio::use_awaitable);
}

}  // namespace proteus::gateway
