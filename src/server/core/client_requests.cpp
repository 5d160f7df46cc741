#include "server/core/client_requests.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fmt/format.h>

#include "json/text.hpp"
#include "mcp/jsonrpc.hpp"
#include "mcp/notifications.hpp"

namespace proteus::server {

namespace asio = boost::asio;

// Touched on the asking call's thread only, except that `resolve` posts to it.
struct ClientRequests::Waiting {
  explicit Waiting(const Executor& on) : executor(on), wake(on) {}

  Executor executor;
  asio::steady_timer wake;
  bool done = false;
  Result<std::string> answer = std::string();
};

namespace {

// Legacy requests have no key of their own; a gateway that turns them into modern ones can use ours.
std::string with_key(const mcp::InputRequest& request) {
  if (request.key.empty() || !json::find_member(request.params, "_meta").empty()) return request.params;
  std::string meta = fmt::format(R"("_meta":{{"proteus/inputKey":{}}})", json::quote(request.key));
  // Which this era must have, and the modern one does not.
  if (!json::find_member(request.params, "url").empty() && json::find_member(request.params, "elicitationId").empty()) {
    meta += fmt::format(R"(,"elicitationId":{})", json::quote(request.key));
  }
  const bool bare = request.params.size() <= 2;
  return bare ? "{" + meta + "}" : fmt::format("{{{},{}", meta, std::string_view(request.params).substr(1));
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
    auto waiting = std::make_shared<Waiting>(executor);
    waiting->wake.expires_at(until);
    std::string id = open(waiting);
    channel.send(mcp::write_request(id, mcp::to_string(request.method), with_key(request)));
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
  using Unheard = SessionStream::Unheard;
  const auto waiting = std::make_shared<Waiting>(co_await asio::this_coro::executor);
  waiting->wake.expires_after(deadline);
  const std::string id = self->open(waiting);
  stream->send(mcp::write_request(id, mcp::to_string(request.method), with_key(request)), Unheard::waits);
  if (!waiting->done) {
    boost::system::error_code ignored;
    co_await waiting->wake.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  }
  if (waiting->done) {
    if (waiting->answer) co_return std::move(*waiting->answer);
    co_return std::unexpected(Error(waiting->answer.error()).within("the client was asked for input"));
  }
  self->close(id);
  stream->send(mcp::cancelled_notification(id, "no longer needed"), Unheard::dropped);
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
