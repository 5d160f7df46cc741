#include "client/connection/transports.hpp"

#include <boost/asio/io_context.hpp>

#include "client/transport/old_sse.hpp"
#include "client/transport/stdio_transport.hpp"
#include "client/transport/streamable_http.hpp"

namespace proteus::client {
namespace {

class Maker final : public TransportMaker {
 public:
  Maker(Endpoint endpoint, boost::asio::io_context& io, net::HttpClient& http, const Options& options, Inbox& inbox)
      : endpoint_(std::move(endpoint)), io_(io), http_(http), options_(options), inbox_(inbox) {}

  bool runs_program() const override { return std::holds_alternative<net::Command>(endpoint_); }
  std::shared_ptr<Transport> program() override {
    return stdio_transport(io_, std::get<net::Command>(endpoint_), options_, inbox_);
  }
  std::shared_ptr<Transport> streamable_http() override {
    return client::streamable_http(http_, std::get<net::Url>(endpoint_), options_, inbox_);
  }
  std::shared_ptr<Transport> old_sse() override {
    return client::old_sse(io_.get_executor(), http_, std::get<net::Url>(endpoint_), options_, inbox_);
  }

 private:
  Endpoint endpoint_;
  boost::asio::io_context& io_;
  net::HttpClient& http_;
  const Options& options_;
  Inbox& inbox_;
};

}  // namespace

MakerFactory transports_to(Endpoint endpoint, boost::asio::io_context& io, net::HttpClient& http) {
  return [endpoint = std::move(endpoint), &io, &http](const Options& options, Inbox& inbox) {
    return std::make_unique<Maker>(endpoint, io, http, options, inbox);
  };
}

}  // namespace proteus::client
