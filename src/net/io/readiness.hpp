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

// Tells when sockets can be read or written. A service of its io_context, with an epoll of its own inside Asio's: a
// socket is registered once, edge-triggered, and everything that is ready is answered in one go. Asio's own wait costs
// a system call and a way through its queue each time, which is most of what a small request costs in user space.
//
// Belongs to the thread that runs the io_context, which must be only one.
class Readiness : public boost::asio::execution_context::service {
 public:
  using ErrorCode = boost::system::error_code;
  using Callback = std::move_only_function<void(ErrorCode)>;
  enum class Side : std::uint8_t { read, write };

  using key_type = Readiness;
  static boost::asio::execution_context::id id;
  explicit Readiness(boost::asio::execution_context& context);

  // The thread goes from one handler to the next: counted, so that others can see that it does not stay in one. `beat`
  // belongs to the thread, `beats` to any.
  void beat() { beats_.store(beats_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed); }
  std::uint64_t beats() const { return beats_.load(std::memory_order_relaxed); }

  // Called once, when everything that is ready now was answered: for what many may add to. Must not throw.
  void at_end_of_turn(std::move_only_function<void()> finish);

  // A socket that is watched. It stays the caller's, who closes it after `stop` or after this is gone.
  class Watch {
   public:
    Watch(Readiness& readiness, int socket);
    ~Watch();
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;

    // Calls back once, later. One callback per side at a time.
    void wait(Side side, Callback callback);
    // The callback of that side, if there is one, is called later with `operation_aborted`.
    void cancel(Side side);
    // An operation would have had to wait, or did all it could: the next event decides.
    void exhausted(Side side);
    // Whether there may be something since then.
    bool is_ready(Side side) const { return halves_[static_cast<std::size_t>(side)].ready; }
    // No more events; what waits is aborted.
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
    bool ended_ = false;  // the peer closed, or the socket failed: no further event will say so
    std::array<Half, 2> halves_;
    Watch* next_ = nullptr;
    Watch* previous_ = nullptr;
  };

 private:
  class Waiter;

  void shutdown() noexcept override;
  void arm();
  void dispatch();
  // How many sockets had something.
  int dispatch_once();
  void forget(Watch& watch);
  Callback take(Watch& watch, Side side);

  boost::asio::io_context& io_;
  UniqueFd epoll_;
  std::unique_ptr<Waiter> waiter_;
  std::size_t waiting_ = 0;  // callbacks: without any, Asio has nothing to wait for
  std::atomic<std::uint64_t> beats_ = 0;
  bool armed_ = false;
  bool dispatching_ = false;
  bool in_turn_ = false;
  std::vector<std::move_only_function<void()>> finishes_;
  std::vector<std::move_only_function<void()>> finishing_;
  Watch* first_ = nullptr;
  std::vector<Watch*> ready_;  // while they are being answered
};

}  // namespace proteus::net
