#include "client/questions.hpp"

#include <fmt/format.h>

#include "base/log.hpp"
#include "mcp/errors.hpp"
#include "mcp/jsonrpc.hpp"

namespace proteus::client {
namespace {

// Longer ids are an attack on whoever keeps them.
constexpr std::size_t kMaxIdBytes = 1024;

std::string write_answer(std::string_view id, std::string_view result) {
  return fmt::format(R"({{"jsonrpc":"2.0","id":{},"result":{}}})", id, result);
}

}  // namespace

class Questions::Open {
 public:
  Open(Questions& questions, std::string_view id)
      : questions_(questions),
        deadline_(questions.executor_, questions.options_.handler_timeout, {}),
        at_(questions.open_.emplace(id, &deadline_)) {}
  ~Open() { questions_.open_.erase(at_); }
  Open(const Open&) = delete;
  Open& operator=(const Open&) = delete;

  const std::string& id() const { return at_->first; }
  Deadline& deadline() { return deadline_; }

 private:
  Questions& questions_;
  Deadline deadline_;
  std::multimap<std::string, Deadline*, std::less<>>::iterator at_;
};

void Questions::on_request(Received request, RequestId during, std::shared_ptr<Transport> transport) {
  const json::Message& message = request.message();
  const std::size_t limit = options_.limits.server_requests;
  if (message.id.size() > kMaxIdBytes || open_.size() >= 2 * limit) {
    return log::warning("a request of the server is ignored: {}",
                        open_.size() >= 2 * limit ? "it asks too much at once" : "its id is too long");
  }
  std::optional<Error> refusal;
  const auto* method = mcp::find_method(mcp::Era::legacy, mcp::Sender::server, message.method);
  if (method == nullptr || method->form != mcp::Form::request) {
    refusal = mcp::errors::method_not_found(log::printable(message.method, 64));
  } else if (open_.size() >= limit || open_.contains(message.id)) {
    refusal = errors::exhausted("too many requests of the server are unanswered");
  }
  auto open = std::make_unique<Open>(*this, message.id);
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

Task<> Questions::answer(Received request, mcp::Method method, RequestId during, std::shared_ptr<Transport> transport,
                         std::unique_ptr<Open> open) {
  if (method == mcp::Method::ping) co_return co_await send(write_answer(open->id(), "{}"), std::move(transport));
  Result<std::string> result;
  {
    const InFlightTable::Hold hold(requests_, during);
    // One that does not say what it is asked for is asked for the only request there is.
    const InFlight* const asked_by = during == kNoRequest ? requests_.only() : requests_.find(during);
    const std::shared_ptr<const Handlers> own = asked_by != nullptr ? asked_by->options->own_handlers() : nullptr;
    Question question{method, std::string(request.message().params), during};
    auto asked = ask(own ? *own : options_.handlers, std::move(question));
    result = co_await before(open->deadline(), std::move(asked), mcp::to_string(method));
  }
  if (open->deadline().expired()) co_return;  // cancelled: an answer is not wanted
  co_await send(
      result ? write_answer(open->id(), *result) : mcp::write_error(open->id(), result.error(), mcp::Era::legacy),
      std::move(transport));
}

Task<> Questions::refuse(std::string text, std::shared_ptr<Transport> transport, std::unique_ptr<Open> open) {
  co_await send(std::move(text), std::move(transport));
  open.reset();
}

Task<> Questions::send(std::string text, std::shared_ptr<Transport> transport) {
  Outgoing message;
  message.parts.emplace_back(text);
  Deadline deadline(executor_, options_.timeout, {});
  const auto sent = co_await before(deadline, transport->send(message), "answering the server");
  if (!sent) log::warning("an answer did not reach the server: {}", sent.error().message());
}

}  // namespace proteus::client
