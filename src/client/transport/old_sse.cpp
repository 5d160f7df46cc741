#include "client/transport/old_sse.hpp"

#include <fmt/format.h>

#include "base/log/log.hpp"
#include "base/tasks/task_group.hpp"
#include "client/message/era.hpp"
#include "client/message/retry_after.hpp"
#include "client/transport/channel.hpp"
#include "client/transport/event_stream.hpp"
#include "client/transport/http_caller.hpp"
#include "mcp/headers.hpp"

namespace proteus::client {
namespace {

class OldSse final : public Channel {
 public:
  OldSse(const Executor& executor, net::HttpClient& http, net::Url url, const Options& options, Inbox& inbox)
      : Channel(executor, inbox, options.log),
        caller_(http, std::move(url), options),
        options_(options),
        tasks_(executor) {}

  Task<Result<>> start() override {
    const std::vector<Header> headers = {{"Accept", "text/event-stream"}};
    auto response = co_await caller_.send("GET", caller_.url(), headers, options_.timeout);
    if (!response) co_return std::unexpected(std::move(response.error()));
    if (response->status() != 200) {
      co_return std::unexpected(
          http_error(static_cast<int>(response->status()), {}).with_retry_after(read_retry_after(response->fields())));
    }
    if (!response->has_content_type("text/event-stream"))
      co_return std::unexpected(errors::protocol("the server answered GET with something else than a stream"));
    stream_ = std::make_unique<EventStream>(std::move(*response), options_.limits.message_bytes);
    auto first = co_await stream_->next();
    if (!first) co_return std::unexpected(std::move(first.error()));
    if (!*first || (*first)->type != "endpoint")
      co_return std::unexpected(errors::protocol("the stream does not begin with an endpoint"));
    auto endpoint = caller_.url().resolve((*first)->data);
    if (!endpoint) co_return std::unexpected(std::move(endpoint.error()).within("the server's endpoint"));
    // Otherwise a server could make us post our messages to another server.
    if (endpoint->origin() != caller_.url().origin())
      co_return std::unexpected(errors::protocol("the server's endpoint is at another origin"));
    endpoint_ = std::move(*endpoint);
    tasks_.spawn("reading events", read());
    co_return Result<>{};
  }

  bool has_headers() const override { return false; }

  Task<> close() override {
    fail(errors::cancelled("the connection"));
    tasks_.cancel();
    co_await tasks_.join();
    stream_.reset();
  }

 private:
  Task<> read() {
    json::ScanLimits limits;
    limits.bytes = options_.limits.message_bytes;
    for (;;) {
      const auto event = co_await stream_->next();
      if (!event) co_return fail(event.error());
      if (!*event) co_return fail(errors::interrupted("the server ended its event stream"));
      if ((*event)->type != "message" || (*event)->data.empty()) continue;
      if (is_for_background((*event)->data.size(), options_.background))
        co_await take_aside(*options_.background, stream_->take_data((*event)->data), limits);
      else
        take((*event)->data, limits);
    }
  }

  Task<Result<>> write(const Outgoing& message) override {
    if (!endpoint_) co_return std::unexpected(errors::unreachable("the event stream is not open"));
    std::vector<Header> headers;
    // 2025-06-18 introduced the header; earlier servers do not know it.
    if (version() && *version() >= mcp::Version::v2025_06_18)
      headers.emplace_back(mcp::header::kProtocolVersion, mcp::to_string(*version()));
    auto response = co_await caller_.post(*endpoint_, message, headers);
    if (!response) co_return std::unexpected(std::move(response.error()));
    if (response->status() >= 200 && response->status() < 300) {
      co_await drain(*response);
      co_return Result<>{};
    }
    auto refusal = co_await read_refusal(*response);
    co_return std::unexpected(refusal ? reply_error(*refusal) : std::move(refusal.error()));
  }

  HttpCaller caller_;
  const Options& options_;
  std::optional<net::Url> endpoint_;
  std::unique_ptr<EventStream> stream_;
  TaskGroup tasks_;
};

}  // namespace

std::unique_ptr<Transport> old_sse(const Executor& executor, net::HttpClient& http, net::Url url,
                                   const Options& options, Inbox& inbox) {
  return std::make_unique<OldSse>(executor, http, std::move(url), options, inbox);
}

}  // namespace proteus::client
