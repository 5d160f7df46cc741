#pragma once

#include <chrono>
#include <exception>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <utility>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include "base/tasks/task.hpp"

// For tests: drives coroutines from plain code.
namespace proteus::test {

// Long enough for the slowest machine; only a test that would hang reaches it.
inline constexpr std::chrono::seconds kPatience{60};

// Runs handlers until `done()` holds. Throws if that takes longer than kPatience or no handlers are left.
template <class Done>
void run_until(boost::asio::io_context& io, Done&& done) {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  io.restart();
  while (!done()) {
    if (io.run_one_until(end) == 0) throw std::runtime_error("what the test waits for did not happen");
  }
}

// Runs handlers until the task has ended, and returns its result.
template <class T>
T run(boost::asio::io_context& io, Task<T> task) {
  std::optional<T> result;
  std::exception_ptr failure;
  boost::asio::co_spawn(io, std::move(task), [&](std::exception_ptr thrown, T value) {
    failure = thrown;
    result = std::move(value);
  });
  run_until(io, [&] { return result.has_value(); });
  if (failure) std::rethrow_exception(failure);
  return std::move(*result);
}

inline void run(boost::asio::io_context& io, Task<> task) {
  bool ended = false;
  std::exception_ptr failure;
  boost::asio::co_spawn(io, std::move(task), [&](std::exception_ptr thrown) {
    failure = thrown;
    ended = true;
  });
  run_until(io, [&] { return ended; });
  if (failure) std::rethrow_exception(failure);
}

// A running task whose outcome is read later. Must outlive the task.
template <class T>
struct Started {
  Started(boost::asio::io_context& on, Task<T> task) : io(on) {
    boost::asio::co_spawn(
        io, std::move(task),
        boost::asio::bind_cancellation_slot(signal.slot(), [this](std::exception_ptr thrown, T value) {
          failure = thrown;
          result = std::move(value);
        }));
  }
  bool is_done() const { return result.has_value(); }
  // Does nothing once the task has ended: Asio leaves the handler of the cancellation slot in place.
  void cancel() {
    if (!is_done()) signal.emit(boost::asio::cancellation_type::terminal);
  }
  T finish() {
    run_until(io, [&] { return is_done(); });
    if (failure) std::rethrow_exception(failure);
    return std::move(*result);
  }

  boost::asio::io_context& io;
  boost::asio::cancellation_signal signal;
  std::optional<T> result;
  std::exception_ptr failure;
};

// Runs all handlers that need not wait.
inline void settle(boost::asio::io_context& io) {
  io.restart();
  io.poll();
}

inline std::size_t open_descriptors() {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd"))
    ++count;
  return count;
}

}  // namespace proteus::test
