#include "base/tasks/task_group.hpp"

#include <exception>
#include <list>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/log/log.hpp"

namespace proteus {

namespace asio = boost::asio;

struct TaskGroup::State {
  explicit State(const Executor& on) : executor(on), empty(on) {
    empty.expires_at(asio::steady_timer::time_point::max());
  }

  void cancel_running() {
    // A task that ends at once erases its own entry; step past the entry first.
    for (auto next = running.begin(); next != running.end();) {
      auto current = next++;
      current->emit(asio::cancellation_type::terminal);
    }
  }

  Executor executor;
  asio::steady_timer empty;  // cancelled when the last task ends, to wake `join`
  std::list<asio::cancellation_signal> running;
  bool cancelled = false;
};

TaskGroup::TaskGroup(const Executor& executor) : state_(std::make_shared<State>(executor)) {}

TaskGroup::~TaskGroup() {
  if (!state_->running.empty()) {
    log::critical("a task group was destroyed while {} of its tasks ran", state_->running.size());
    std::terminate();
  }
}

void TaskGroup::spawn(std::string_view name, Task<> task) {
  auto state = state_;
  auto signal = state->running.emplace(state->running.end());
  asio::co_spawn(state->executor, std::move(task),
                 asio::bind_cancellation_slot(signal->slot(),
                                              [state, signal, name = std::string(name)](std::exception_ptr failure) {
                                                state->running.erase(signal);
                                                if (state->running.empty()) state->empty.cancel();
                                                if (!failure) return;
                                                try {
                                                  std::rethrow_exception(failure);
                                                } catch (const boost::system::system_error& error) {
                                                  if (error.code() != asio::error::operation_aborted) {
                                                    log::error("task {} ended by {}", name, error.what());
                                                  }
                                                } catch (const std::exception& error) {
                                                  log::error("task {} ended by {}", name, error.what());
                                                } catch (...) {
                                                  log::error("task {} ended by an unknown exception", name);
                                                }
                                              }));
  if (state->cancelled) asio::post(state->executor, [state] { state->cancel_running(); });
}

void TaskGroup::cancel() {
  state_->cancelled = true;
  state_->cancel_running();
}

Task<> TaskGroup::join() {
  auto state = state_;
  const bool throws = co_await asio::this_coro::throw_if_cancelled();
  co_await asio::this_coro::throw_if_cancelled(false);
  while (!state->running.empty()) {
    boost::system::error_code ignored;
    co_await state->empty.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  }
  co_await asio::this_coro::throw_if_cancelled(throws);
  const auto cancellation = co_await asio::this_coro::cancellation_state;
  if (throws && cancellation.cancelled() != asio::cancellation_type::none) {
    throw boost::system::system_error(asio::error::operation_aborted);
  }
}

std::size_t TaskGroup::size() const { return state_->running.size(); }

}  // namespace proteus
