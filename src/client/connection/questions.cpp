#include "client/connection/questions.hpp"

#include <cstdint>

#include <boost/asio/post.hpp>
#include <fmt/format.h>

#include "base/log/log.hpp"
#include "client/connection/send_text.hpp"
#include "json/text.hpp"
#include "mcp/errors.hpp"
#include "mcp/jsonrpc.hpp"
#include "mcp/meta.hpp"

namespace proteus::client {

namespace asio = boost::asio;

namespace {

// Longer ids are an attack on our memory.
constexpr std::size_t kMaxIdBytes = 1024;
// Limit of the `params` of a client's progress notification.
constexpr std::size_t kMaxProgressBytes = std::size_t{16} << 10U;
// Servers inspect directories before they use them as roots, and do not say when they are done.
constexpr std::chrono::milliseconds kRootsTakeEffect{100};

std::string write_answer(std::string_view id, std::string_view result) {
  return fmt::format(R"({{"jsonrpc":"2.0","id":{},"result":{}}})", id, result);
}

// Returns whether an error means that nobody has answered. A refusal is an answer.
bool is_silence(const Error& error) {
  return error.kind() == ErrorKind::timeout || error.kind() == ErrorKind::cancelled ||
         error.kind() == ErrorKind::interrupted;
}

}  // namespace

class Questions::Open {
 public:
  // `awaited`: requests wait for the answer. `due`: they are not sent without it.
  Open(Questions& questions, std::string_view id, bool awaited, bool due)
      : questions_(questions),
        awaited_(awaited),
        due_(due),
        deadline_(questions.executor_, questions.options_.handler_timeout, {}),
        at_(questions.open_.emplace(id, &deadline_)) {
    if (awaited_) ++questions_.open_roots_;
  }
  ~Open() {
    questions_.open_.erase(at_);
    if (awaited_ && --questions_.open_roots_ == 0) questions_.roots_settled_.ring();
  }
  Open(const Open&) = delete;
  Open& operator=(const Open&) = delete;

  const std::string& id() const { return at_->first; }
  Deadline& deadline() { return deadline_; }
  bool awaited() const { return awaited_; }
  // Makes requests wait for the answer from now on.
  void await() {
    if (!std::exchange(awaited_, true)) ++questions_.open_roots_;
  }
  bool due() const { return due_; }

 private:
  Questions& questions_;
  bool awaited_;
  const bool due_;
  Deadline deadline_;
  std::multimap<std::string, Deadline*, std::less<>>::iterator at_;
};

// Sends progress of an answer to the server, one notification at a time. Of those that arrive during a send, only the
// last is kept.
class Questions::Progress : public std::enable_shared_from_this<Progress> {
 public:
  Progress(Questions& questions, std::shared_ptr<Transport> transport, std::string_view token)
      : questions_(questions), transport_(std::move(transport)), token_(token) {}

  // See Question::on_progress.
  std::function<void(std::string)> sink() {
    return [executor = questions_.executor_, weak = weak_from_this()](std::string params) {
      asio::post(executor, [weak, params = std::move(params)]() mutable {
        if (const auto self = weak.lock()) self->report(std::move(params));
      });
    };
  }
  void end() {
    ended_ = true;
    next_.clear();
  }

 private:
  void report(std::string params) {
    const std::string_view token = json::find_member(params, mcp::meta::kProgressToken);
    if (ended_ || token.empty() || params.size() > kMaxProgressBytes) return;
    params.replace(static_cast<std::size_t>(token.data() - params.data()), token.size(), token_);
    next_ = mcp::write_notification(mcp::to_string(mcp::Method::progress), params);
    if (!std::exchange(sending_, true)) questions_.tasks_.spawn("progress of an answer", send(shared_from_this()));
  }
  static Task<> send(std::shared_ptr<Progress> self) {
    while (!self->next_.empty())
      co_await self->questions_.send(std::exchange(self->next_, {}), self->transport_);
    self->sending_ = false;
  }

  Questions& questions_;
  const std::shared_ptr<Transport> transport_;
  const std::string token_;
  std::string next_;
  bool sending_ = false;
  bool ended_ = false;
};

void Questions::on_request(Received request, RequestId during, std::shared_ptr<Transport> transport) {
  const json::Message& message = request.message();
  const std::size_t limit = options_.limits.server_requests;
  if (message.id.size() > kMaxIdBytes || open_.size() >= 2 * limit) {
    return options_.log->warning("a request of the server is ignored: {}",
                                 open_.size() >= 2 * limit ? "it asks too much at once" : "its id is too long");
  }
  std::optional<Error> refusal;
  const auto* method = mcp::find_method(mcp::Era::legacy, mcp::Sender::server, message.method);
  if (method == nullptr || method->form != mcp::Form::request) {
    refusal = mcp::errors::method_not_found(log::printable(message.method, 64));
  } else if (open_.size() >= limit || open_.contains(message.id)) {
    refusal = errors::exhausted("too many requests of the server are unanswered");
  }
  // Other requests wait only for questions that do not belong to a certain request. A client session can be asked at
  // any time; other callers only while one of their requests is under way.
  const bool stray_roots = !refusal && is_stray_roots(method->method, during);
  const bool awaited = stray_roots && (options_.owner == Owner::session ? roots_due_ : !requests_.any_asked_sent());
  auto open = std::make_unique<Open>(*this, message.id, awaited, awaited && roots_due_);
  if (refusal) {
    tasks_.spawn("refusing a request of the server", refuse(mcp::write_error(message.id, *refusal, mcp::Era::legacy),
                                                            std::move(transport), std::move(open)));
    return;
  }
  tasks_.spawn("answering the server",
               answer(std::move(request), method->method, during, std::move(transport), std::move(open)));
}

void Questions::on_cancelled(std::string_view id) {
  const auto [begin, end] = open_.equal_range(id);
  for (auto at = begin; at != end; ++at)
    at->second->expire();
}

bool Questions::is_stray_roots(mcp::Method method, RequestId during) const {
  return method == mcp::Method::list_roots && during == kNoRequest && options_.owner != Owner::everybody;
}

const InFlight* Questions::asked_by(mcp::Method method, RequestId during) const {
  if (during != kNoRequest) return requests_.find(during);
  if (is_stray_roots(method, during) && options_.owner == Owner::session) return nullptr;
  // A question that names no request belongs to the only one there is.
  return requests_.only();
}

bool Questions::is_of_any(mcp::Method method, RequestId during) const {
  return during == kNoRequest && options_.owner == Owner::caller && !is_stray_roots(method, during) &&
         requests_.only() == nullptr && requests_.first_asked() != nullptr;
}

// All requests belong to one caller, so it does not matter with which of them the caller gets the question: the answer
// goes to the server under the question's own id. Requests that carry no question yet come first, the latest before the
// others.
Task<Result<std::string>> Questions::ask_in_turn(Question question) {
  std::set<RequestId> asked;
  Result<std::string> answer = std::unexpected(errors::cancelled("the question"));
  for (;;) {
    const InFlight* const request =
        requests_.latest_asked([&](RequestId id) { return asked.contains(id) ? SIZE_MAX : asked_in_turn_.count(id); });
    if (request == nullptr || !asked.insert(request->id).second) co_return answer;
    const auto own = request->options->own_handlers();
    const auto noted = asked_in_turn_.insert(request->id);
    const std::shared_ptr<void> forgotten(nullptr, [this, noted](void*) { asked_in_turn_.erase(noted); });
    answer = co_await ask(*own, question);
    // The request ended without an answer: the question belongs to another one, and the server still waits.
    if (answer || answer.error().kind() != ErrorKind::cancelled) co_return answer;
  }
}

// Roots belong to no request: if a request ends before its caller has answered, the next request's caller is asked.
Task<Result<std::string>> Questions::ask_whoever_comes(Question question, Open& open) {
  RequestId asked = kNoRequest;
  const auto find = [&] {
    return asked == kNoRequest ? requests_.first_asked()
                               : requests_.latest_asked([&](RequestId id) { return id == asked ? 1U : 0U; });
  };
  for (;;) {
    const InFlight* request = find();
    for (; request == nullptr || request->id == asked; request = find()) {
      open.await();
      co_await arrival_.wait();
    }
    asked = request->id;
    question.early = !request->is_sent;
    const auto own = request->options->own_handlers();
    const InFlightTable::Hold hold(requests_, kNoRequest);
    auto answer = co_await ask(*own, question);
    // A due question is not passed on: the session ends without its answer.
    if (answer || answer.error().kind() != ErrorKind::cancelled || open.due()) co_return answer;
  }
}

Task<Result<std::string>> Questions::ask_owner(Question question, Open& open) {
  const auto [method, during] = std::pair(question.method, question.during);
  if (is_stray_roots(method, during) && options_.owner == Owner::caller)
    co_return co_await ask_whoever_comes(std::move(question), open);
  if (is_stray_roots(method, during) && options_.owner != Owner::session) {
    while (requests_.first_asked() == nullptr)
      co_await arrival_.wait();
  }
  const InFlightTable::Hold hold(requests_, during);
  if (is_of_any(method, during)) co_return co_await ask_in_turn(std::move(question));
  const InFlight* const request = asked_by(method, during);
  const std::shared_ptr<const Handlers> own = request != nullptr ? request->options->own_handlers() : nullptr;
  question.early = request != nullptr && !request->is_sent;
  co_return co_await ask(own ? *own : options_.handlers, std::move(question));
}

Task<> Questions::answer(Received request, mcp::Method method, RequestId during, std::shared_ptr<Transport> transport,
                         std::unique_ptr<Open> open) {
  if (method == mcp::Method::ping) co_return co_await send(write_answer(open->id(), "{}"), std::move(transport));
  Question question{method, std::string(request.message().params), during};
  const std::string_view token =
      json::find_member(json::find_member(question.params, "_meta"), mcp::meta::kProgressToken);
  const auto progress = std::make_shared<Progress>(*this, transport, token);
  if (!token.empty() && token.size() <= kMaxIdBytes) question.on_progress = progress->sink();
  const auto result = co_await before(open->deadline(), ask_owner(std::move(question), *open), mcp::to_string(method));
  progress->end();
  const bool unwanted = open->deadline().expired();  // the server has cancelled the question
  if (open->due() && (unwanted || (!result && is_silence(result.error())))) roots_missed_ = true;
  if (unwanted) co_return;
  // A pipe accepts a message before the program has read it, and a busy program may read it much later.
  const bool is_read = transport->has_streams();
  co_await send(
      result ? write_answer(open->id(), *result) : mcp::write_error(open->id(), result.error(), mcp::Era::legacy),
      std::move(transport));
  if (!result || !open->awaited()) co_return;
  // Requests go on waiting until the answer has taken effect.
  if (!is_read && until_read_) co_await until_read_();
  co_await sleep_for(kRootsTakeEffect);
}

Task<> Questions::wait_for_roots() {
  while (open_roots_ > 0)
    co_await roots_settled_.wait();
}

Task<> Questions::refuse(std::string text, std::shared_ptr<Transport> transport, std::unique_ptr<Open> open) {
  co_await send(std::move(text), std::move(transport));
  open.reset();
}

Task<> Questions::send(std::string text, std::shared_ptr<Transport> transport) {
  const auto sent = co_await send_text(std::move(transport), std::move(text), options_.timeout);
  if (!sent) options_.log->warning("an answer did not reach the server: {}", sent.error().message());
}

}  // namespace proteus::client
