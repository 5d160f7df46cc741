#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/system/error_code.hpp>

#include "base/unique_fd.hpp"

namespace proteus::net {

// Notifies when sockets can be read or written. A service of its io_context, with its own epoll inside Asio's: a socket
// is registered once, edge-triggered, and all ready sockets are served in one go. Asio's own wait costs a system call
// and a pass through its queue each time, which is most of what a small request costs in user space.
//
// Belongs to the thread that runs the io_context; there must be only one.
class Readiness : public boost::asio::execution_context::service {
 public:
  using ErrorCode = boost::system::error_code;
  using Callback = std::move_only_function<void(ErrorCode)>;
  enum class Side : std::uint8_t { read, write };

  using key_type = Readiness;
  static boost::asio::execution_context::id id;
  explicit Readiness(boost::asio::execution_context& context);

  // Counts the handlers that the thread begins, so that another thread can see that it is not stuck in one. `beat`
  // belongs to the thread; `beats` is thread-safe.
  void beat() { beats_.store(beats_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed); }
  std::uint64_t beats() const { return beats_.load(std::memory_order_relaxed); }

  // Calls `finish` once, after everything that is ready now was served: for output that many handlers add to. `finish`
  // must not throw.
  void at_end_of_turn(std::move_only_function<void()> finish);

  // A watched socket. The caller keeps owning the socket, and closes it after `stop` or after the Watch is destroyed.
  class Watch {
   public:
    Watch(Readiness& readiness, int socket);
    ~Watch();
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;

    // Calls back once, later. Only one callback per side may be pending. It must not throw.
    void wait(Side side, Callback callback);
    // Calls the pending callback of that side, if there is one, later with `operation_aborted`.
    void cancel(Side side);
    // Notes that an operation would have had to wait, or moved fewer bytes than it could: the side is ready again after
    // the next event.
    void exhausted(Side side);
    // Whether there has been an event since `exhausted`, so that an operation may succeed.
    bool is_ready(Side side) const { return halves_[static_cast<std::size_t>(side)].ready; }
    // Ends all events. Pending callbacks get `operation_aborted`.
    void stop();

   private:
    friend class Readiness;
    struct Half {
      Callback callback;
      bool ready = false;
    };
    Half& half(Side side) { return halves_[static_cast<std::size_t>(side)]; }
    void complete_later(Side side, ErrorCode error);

    Readiness& readiness_;
    int socket_;
    bool ended_ = false;  // the peer closed or the socket failed; no further event will say so
    std::array<Half, 2> halves_;
    Watch* next_ = nullptr;
    Watch* previous_ = nullptr;
  };

 private:
  class Waiter;

  void shutdown() noexcept override;
  void arm();
  void dispatch();
  // Returns how many sockets had events.
  int dispatch_once();
  void forget(Watch& watch);
  Callback take(Watch& watch, Side side);

  boost::asio::io_context& io_;
  UniqueFd epoll_;
  std::unique_ptr<Waiter> waiter_;
  std::size_t waiting_ = 0;  // pending callbacks; without any, Asio has nothing to wait for
  std::atomic<std::uint64_t> beats_ = 0;
  bool armed_ = false;
  bool dispatching_ = false;
  bool in_turn_ = false;
  std::vector<std::move_only_function<void()>> finishes_;
  std::vector<std::move_only_function<void()>> finishing_;
  Watch* first_ = nullptr;
  std::vector<Watch*> ready_;  // sockets that are being served; null if stopped meanwhile
};

}  // namespace proteus::net
