#include "gateway/bridge/running_call.hpp"

#include <algorithm>

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>
#include <fmt/format.h>

#include "gateway/bridge/questions.hpp"
#include "gateway/routing/translation.hpp"
#include "mcp/errors.hpp"
#include "providers/declaring.hpp"
#include "server/core/client_requests.hpp"

namespace proteus::gateway {

namespace asio = boost::asio;

namespace {

using Time = asio::steady_timer::time_point;

// Questions within this time of the first one form one round.
constexpr std::chrono::milliseconds kTogether{50};
constexpr std::size_t kMaxOpen = 16;
// Limits of the early answers of one call, and of one question.
constexpr std::size_t kMaxEarlyBytes = std::size_t{256} * 1024;
constexpr std::size_t kMaxQuestion = std::size_t{1} << 20U;
// Limits of the notifications that are kept while no request waits.
constexpr std::size_t kMaxMissed = 64;
constexpr std::size_t kMaxMissedBytes = std::size_t{64} * 1024;
// Questions that an upstream may ask during one call, so that asking comes to an end.
constexpr unsigned kMaxAsked = 256;

bool has_failed(const Result<client::Answer>& end) { return !end || is_tool_error(*end); }

}  // namespace

RunningCall::RunningCall(const Executor& thread, mcp::ClientCapabilities client)
    : thread_(thread), client_(client), deadline_(Deadline::never(thread)), news_(thread), timer_(thread) {}

std::shared_ptr<const client::Handlers> RunningCall::handlers() {
  return providers::declare_everything(
      [self = shared_from_this()](client::Question question) { return self->ask(std::move(question)); });
}

Task<> RunningCall::run(Task<Result<client::Answer>> request) {
  const auto self = shared_from_this();
  try {
    end_ = co_await before(deadline_, std::move(request), "the call");
  } catch (const boost::system::system_error&) {
    end_ = std::unexpected(errors::cancelled("the call"));
  } catch (const std::exception& fault) {
    end_ = std::unexpected(errors::internal(fault.what()));
  }
  on_asked_ = nullptr;
  connection_ = nullptr;
  for (Open* open : open_)
    open->bell.ring();
  news_.cancel();
}

void RunningCall::cancel() { deadline_.expire(); }

std::string RunningCall::key_of(const mcp::InputRequest& request) {
  const auto taken = [this](const std::string& key) {
    return std::ranges::any_of(open_, [&](const Open* open) { return open->request.key == key; });
  };
  std::string key = request.key;
  for (unsigned number = asked_; key.empty() || taken(key); ++number)
    key = fmt::format("{}-{}", request.key.empty() ? "input" : request.key, number);
  return key;
}

Task<Result<std::string>> RunningCall::ask(client::Question question) {
  const auto self = shared_from_this();
  if (++asked_ > kMaxAsked || open_.size() >= kMaxOpen) {
    co_return std::unexpected(errors::exhausted("this request has asked for too much"));
  }
  if (question.params.size() > kMaxQuestion) {
    co_return std::unexpected(errors::too_large("what is asked for", kMaxQuestion));
  }
  const bool before_the_call = question.early;
  mcp::InputRequired required;
  required.requests.push_back(to_modern(std::move(question)));
  mcp::InputRequest& request = required.requests.front();
  std::string missing = server::missing_capabilities(required, client_);
  auto refusal = errors::unsupported(fmt::format("the client does not offer {}", missing));
  // A call must not fail because of a question that the session asked as it began.
  if (!missing.empty() && before_the_call) co_return std::unexpected(std::move(refusal));
  if (!std::exchange(noted_, true) && on_asked_) on_asked_();
  if (!missing.empty()) {
    missing_ = std::move(missing);
    co_return std::unexpected(std::move(refusal));
  }
  request.key = key_of(request);
  if (auto early = early_.extract(request.key)) co_return std::move(early.mapped());

  Open open{std::move(request), Bell(thread_), {}};
  const auto place = open_.insert(open_.end(), &open);
  const std::shared_ptr<void> taken_out(nullptr, [&](void*) { open_.erase(place); });
  news_.cancel();
  while (!open.answer && !end_)
    co_await open.bell.wait();
  if (!open.answer) co_return std::unexpected(errors::cancelled("the question"));
  co_return std::move(*open.answer);
}

void RunningCall::notify(const json::Message& message) {
  if (sink_) return sink_(message);
  if (message.text.size() > kMaxMissedBytes) return;
  missed_.emplace_back(message.text);
  missed_bytes_ += message.text.size();
  while (missed_.size() > kMaxMissed || missed_bytes_ > kMaxMissedBytes) {
    missed_bytes_ -= missed_.front().size();
    missed_.pop_front();
  }
}

void RunningCall::tell_missed() {
  missed_bytes_ = 0;
  for (const std::string& text : std::exchange(missed_, {})) {
    if (const auto message = json::scan(text)) sink_(*message);
  }
}

Task<> RunningCall::wait_for_news() {
  boost::system::error_code woken;
  co_await news_.async_wait(asio::redirect_error(asio::use_awaitable, woken));
}

RunningCall::News RunningCall::take_end() {
  if (!missing_.empty() && has_failed(*end_)) {
    return std::unexpected(mcp::errors::missing_capability(missing_));
  }
  if (!*end_) return std::unexpected(end_->error());
  return std::move(**end_);
}

Task<RunningCall::News> RunningCall::wait_for_call(std::uint64_t number, Sink sink, Answers answers) {
  const auto self = shared_from_this();
  stop_timer();
  waiting_request_ = number;
  sink_ = std::move(sink);
  const std::shared_ptr<void> left(nullptr, [this](void*) {
    waiting_request_ = 0;
    sink_ = nullptr;
  });
  if (sink_) tell_missed();
  const auto is_open = [](const Open* open) { return !open->answer; };
  for (Open* open : open_) {
    if (auto given = answers.extract(open->request.key)) {
      open->answer = std::move(given.mapped());
      open->bell.ring();
    }
  }
  std::size_t kept = 0;
  for (const auto& [key, answer] : early_)
    kept += key.size() + answer.size();
  for (auto& [key, answer] : answers) {
    kept += key.size() + answer.size();
    if (kept > kMaxEarlyBytes) break;
    early_.insert_or_assign(key, std::move(answer));
  }
  std::optional<Time> tell_at;
  while (!end_) {
    if (std::ranges::none_of(open_, is_open)) {
      tell_at.reset();
      news_.expires_at(Time::max());
    } else {
      const Time now = std::chrono::steady_clock::now();
      if (!tell_at) tell_at = now + kTogether;
      if (now >= *tell_at) {
        Questions questions;
        for (const Open* open : open_) {
          if (is_open(open)) questions.push_back(open->request);
        }
        co_return questions;
      }
      news_.expires_at(*tell_at);
    }
    co_await wait_for_news();
  }
  co_return take_end();
}

void RunningCall::leave(std::uint64_t number) {
  if (waiting_request_ == number) cancel();
}

void RunningCall::start_timer(std::chrono::milliseconds time, std::function<void()> callback) {
  timer_.expires_after(time);
  timer_.async_wait(
      [self = shared_from_this(), callback = std::move(callback)](const boost::system::error_code& error) {
        if (!error) callback();
      });
}

}  // namespace proteus::gateway
