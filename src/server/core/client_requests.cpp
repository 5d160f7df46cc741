#include "server/core/client_requests.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fmt/format.h>

#include "json/text.hpp"
#include "mcp/jsonrpc.hpp"
#include "mcp/meta.hpp"
#include "mcp/notifications.hpp"

namespace proteus::server {

namespace asio = boost::asio;

// A request that waits for its answer. Changed only on the asking coroutine's thread, to which other threads post.
struct ClientRequests::Waiting {
  Waiting(const Executor& on, std::function<void(std::string)> told)
      : executor(on), on_progress(std::move(told)), wake(on) {}

  Executor executor;
  const std::function<void(std::string)> on_progress;
  asio::steady_timer wake;
  bool done = false;
  Result<std::string> answer = std::string();
};

namespace {

// Legacy requests have no keys. A gateway that turns this one into a modern request can use ours.
std::string with_key(const mcp::InputRequest& request) {
  if (request.key.empty() || !json::find_member(request.params, "_meta").empty()) return request.params;
  std::string meta = fmt::format(R"("_meta":{{"proteus/inputKey":{}}})", json::quote(request.key));
  // The legacy era requires this member; the modern era does not have it.
  if (!json::find_member(request.params, "url").empty() && json::find_member(request.params, "elicitationId").empty()) {
    meta += fmt::format(R"(,"elicitationId":{})", json::quote(request.key));
  }
  const bool bare = request.params.size() <= 2;
  return bare ? "{" + meta + "}" : fmt::format("{{{},{}", meta, std::string_view(request.params).substr(1));
}

// Several upstreams may have chosen the same progress token, so the client gets the request's id instead, which is
// unique.
std::string with_token(std::string params, std::string_view token) {
  const std::string_view old = json::find_member(json::find_member(params, "_meta"), mcp::meta::kProgressToken);
  if (!old.empty()) params.replace(static_cast<std::size_t>(old.data() - params.data()), old.size(), token);
  return params;
}

std::string write_question(const std::string& id, const mcp::InputRequest& request) {
  std::string params = with_key(request);
  if (request.on_progress) params = with_token(std::move(params), id);
  return mcp::write_request(id, mcp::to_string(request.method), params);
}

std::unexpected<Error> no_answer() { return std::unexpected(errors::interrupted("it sends nothing any more")); }

}  // namespace

std::string ClientRequests::open(std::shared_ptr<Waiting> waiting) {
  const std::scoped_lock lock(mutex_);
  std::string id = std::to_string(++last_id_);
  if (ended_) {
    settle(std::move(waiting), no_answer());
  } else {
    waiting_.emplace(id, std::move(waiting));
  }
  return id;
}

void ClientRequests::close(const std::string& id) {
  const std::scoped_lock lock(mutex_);
  waiting_.erase(id);
}

bool ClientRequests::resolve(const json::Message& answer) {
  std::shared_ptr<Waiting> waiting;
  {
    const std::scoped_lock lock(mutex_);
    const auto found = waiting_.find(answer.id);
    if (found == waiting_.end()) return false;
    waiting = std::move(found->second);
    waiting_.erase(found);
  }
  Result<std::string> value = std::string(answer.result);
  if (answer.kind == json::MessageKind::error) value = std::unexpected(mcp::read_error(answer.error));
  settle(std::move(waiting), std::move(value));
  return true;
}

void ClientRequests::progressed(const json::Message& notification) {
  std::shared_ptr<Waiting> waiting;
  {
    const std::scoped_lock lock(mutex_);
    const auto found = waiting_.find(notification.body.value(mcp::meta::kProgressToken));
    if (found == waiting_.end()) return;
    waiting = found->second;
  }
  if (waiting->on_progress) waiting->on_progress(std::string(notification.params));
}

void ClientRequests::settle(std::shared_ptr<Waiting> waiting, Result<std::string> answer) {
  asio::post(waiting->executor, [waiting, answer = std::move(answer)]() mutable {
    waiting->answer = std::move(answer);
    waiting->done = true;
    waiting->wake.cancel();
  });
}

void ClientRequests::end() {
  const std::scoped_lock lock(mutex_);
  ended_ = true;
  for (auto& [id, waiting] : std::exchange(waiting_, {}))
    settle(std::move(waiting), no_answer());
}

Task<Result<void>> ClientRequests::ask(const mcp::InputRequired& required, Call& call, CallChannel& channel,
                                       std::chrono::milliseconds deadline) {
  const Executor executor = co_await asio::this_coro::executor;
  const auto until = std::chrono::steady_clock::now() + deadline;
  struct Asked {
    std::string key;
    std::string id;
    std::shared_ptr<Waiting> waiting;
  };
  std::vector<Asked> asked;
  for (const auto& request : required.requests) {
    auto waiting = std::make_shared<Waiting>(executor, request.on_progress);
    waiting->wake.expires_at(until);
    std::string id = open(waiting);
    channel.send(write_question(id, request));
    asked.push_back({request.key, std::move(id), std::move(waiting)});
  }

  const Cancellation::Hook stop(call.cancellation(), [&asked] {
    for (const auto& each : asked)
      each.waiting->wake.cancel();
  });
  Result<void> outcome;
  for (const auto& [key, id, waiting] : asked) {
    if (!waiting->done && outcome && !call.cancellation().requested()) {
      boost::system::error_code ignored;
      co_await waiting->wake.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
    }
    if (waiting->done && outcome) {
      if (waiting->answer) {
        call.rounds().answers.insert_or_assign(key, std::move(*waiting->answer));
      } else {
        outcome = std::unexpected(Error(waiting->answer.error()).within("the client was asked for input"));
      }
    } else if (!waiting->done) {
      close(id);
      channel.send(mcp::cancelled_notification(id, "no longer needed"));
      if (outcome) {
        const bool late = std::chrono::steady_clock::now() >= until;
        outcome = std::unexpected(call.cancellation().requested() ? errors::cancelled("the request")
                                  : late                          ? errors::timeout("waiting for the user's input")
                                                                  : errors::cancelled("the question"));
      }
    }
  }
  co_return outcome;
}

Task<Result<std::string>> ClientRequests::ask(std::shared_ptr<ClientRequests> self, mcp::InputRequest request,
                                              std::shared_ptr<SessionStream> stream,
                                              std::chrono::milliseconds deadline) {
  const auto waiting = std::make_shared<Waiting>(co_await asio::this_coro::executor, request.on_progress);
  waiting->wake.expires_after(deadline);
  const std::string id = self->open(waiting);
  stream->ask(write_question(id, request), waiting);
  if (!waiting->done) {
    boost::system::error_code ignored;
    co_await waiting->wake.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  }
  if (waiting->done) {
    if (waiting->answer) co_return std::move(*waiting->answer);
    co_return std::unexpected(Error(waiting->answer.error()).within("the client was asked for input"));
  }
  self->close(id);
  stream->send(mcp::cancelled_notification(id, "no longer needed"));
  const bool late = waiting->wake.expiry() <= std::chrono::steady_clock::now();
  co_return std::unexpected(late ? errors::timeout("waiting for the client's answer")
                                 : errors::cancelled("the question to the client"));
}

std::string missing_capabilities(const mcp::InputRequired& required, const mcp::ClientCapabilities& client) {
  mcp::ClientCapabilities missing;
  for (const auto& request : required.requests) {
    switch (request.method) {
      case mcp::Method::elicit: {
        std::vector<std::unique_ptr<std::string>> storage;
        const auto params = json::members_of(request.params, storage);
        const bool url = params && json::decode_string(params->value("mode")).value_or("") == "url";
        if (url ? !client.elicitation_url : !client.elicitation_form) {
          (url ? missing.elicitation_url : missing.elicitation_form) = true;
        }
        break;
      }
      case mcp::Method::create_message:
        if (!client.sampling) missing.sampling = true;
        break;
      case mcp::Method::list_roots:
        if (!client.roots) missing.roots = true;
        break;
      default: break;
    }
  }
  std::string text = mcp::write_client_capabilities(missing);
  return text == "{}" ? std::string() : text;
}

}  // namespace proteus::server
