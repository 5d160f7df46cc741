#include "gateway/bridge/client_asks.hpp"

#include <vector>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace proteus::gateway {

namespace asio = boost::asio;

// Forwards a cancellation to the call's thread by number, because the question may have ended by the time it arrives.
Task<Result<std::string>> ClientAsks::ask(std::shared_ptr<ClientAsks> self, client::Question question) {
  const std::uint64_t number = ++self->last_;
  asio::cancellation_slot slot = (co_await asio::this_coro::cancellation_state).slot();
  if (slot.is_connected()) {
    slot.assign([self, number](asio::cancellation_type) {
      asio::dispatch(self->thread_, [self, number] { self->withdraw(number); });
    });
  }
  auto answer = co_await asio::co_spawn(self->thread_, self->ask_here(number, std::move(question)),
                                        asio::bind_cancellation_slot(asio::cancellation_slot(), asio::use_awaitable));
  if (slot.is_connected()) slot.clear();
  co_return answer;
}

Task<Result<std::string>> ClientAsks::ask_here(std::uint64_t number, client::Question question) {
  const auto self = shared_from_this();
  if (call_ == nullptr) co_return std::unexpected(errors::cancelled("the request was answered; the question"));
  const auto end = std::shared_ptr<void>(nullptr, [this, number](void*) {
    open_.erase(number);
    if (open_.empty()) last_ended_.ring();
  });
  mcp::InputRequest request{{},
                            question.method,
                            question.params.empty() ? "{}" : std::move(question.params),
                            std::move(question.on_progress)};
  co_return co_await asio::co_spawn(thread_, call_->ask(std::move(request)),
                                    asio::bind_cancellation_slot(open_[number].slot(), asio::use_awaitable));
}

void ClientAsks::withdraw(std::uint64_t number) {
  const auto found = open_.find(number);
  if (found != open_.end()) found->second.emit(asio::cancellation_type::terminal);
}

Task<> ClientAsks::close() {
  const auto self = shared_from_this();
  call_ = nullptr;
  if (open_.empty()) co_return;
  co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
  // Iterates over a copy, because a question that ends at once erases its entry.
  std::vector<std::uint64_t> numbers;
  numbers.reserve(open_.size());
  for (const auto& [number, signal] : open_)
    numbers.push_back(number);
  for (const std::uint64_t number : numbers)
    withdraw(number);
  while (!open_.empty())
    co_await last_ended_.wait();
}

}  // namespace proteus::gateway
