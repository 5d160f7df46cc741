#include "net/io/readiness.hpp"

#include <cerrno>
#include <exception>
#include <utility>

#include <boost/asio/error.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/system/system_error.hpp>
#include <sys/epoll.h>

#include "base/clock.hpp"
#include "base/log/log.hpp"

namespace proteus::net {
namespace {

namespace asio = boost::asio;

constexpr std::size_t kBatch = 128;
// Number of rounds of `epoll_wait` in one turn, before Asio runs its other handlers.
constexpr int kRounds = 8;
// Number of callbacks that share one reading of the clock. Small, because the process may have been suspended during
// one.
constexpr unsigned kOneTime = 4;

// No callback should throw, but memory may run out in any. An exception must not keep the others from being called, nor
// leave `dispatch` half done: no socket of this thread would be served any more.
template <class Callback, class... Arguments>
void call(Callback&& callback, Arguments... arguments) {
  try {
    std::forward<Callback>(callback)(arguments...);
  } catch (const std::exception& failed) {
    log::error("a handler of a socket threw: {}", failed.what());
  } catch (...) {
    log::error("a handler of a socket threw an unknown exception");
  }
}

[[noreturn]] void throw_errno(const char* what) {
  throw boost::system::system_error({errno, boost::system::system_category()}, what);
}

}  // namespace

asio::execution_context::id Readiness::id;

// Lets Asio wait until the inner epoll has events.
class Readiness::Waiter {
 public:
  Waiter(asio::io_context& io, int descriptor) : descriptor_(io, descriptor) {}
  ~Waiter() { descriptor_.release(); }
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;

  template <class Handler>
  void wait(Handler&& handler) {
    descriptor_.async_wait(asio::posix::descriptor_base::wait_read, std::forward<Handler>(handler));
  }
  void cancel() { descriptor_.cancel(); }

 private:
  asio::posix::basic_stream_descriptor<asio::io_context::executor_type> descriptor_;
};

Readiness::Readiness(asio::execution_context& context)
    : service(context), io_(static_cast<asio::io_context&>(context)), epoll_(::epoll_create1(EPOLL_CLOEXEC)) {
  if (epoll_.get() < 0) throw_errno("epoll_create1");
  waiter_ = std::make_unique<Waiter>(io_, epoll_.get());
  ready_.reserve(kBatch);
}

void Readiness::shutdown() noexcept {
  waiter_.reset();
  // A callback may own the coroutine that owns its watch, so it is destroyed only after nothing refers to the watch any
  // more.
  while (first_ != nullptr) {
    Watch& watch = *first_;
    forget(watch);
    std::array<Callback, 2> dropped = {std::move(watch.half(Side::read).callback),
                                       std::move(watch.half(Side::write).callback)};
  }
}

void Readiness::arm() {
  if (armed_ || dispatching_ || waiting_ == 0) return;
  waiter_->wait([this](ErrorCode error) {
    armed_ = false;
    if (!error) dispatch();
    arm();
  });
  armed_ = true;
}

void Readiness::dispatch() {
  in_turn_ = true;
  // While several sockets are served, others become ready. Going through Asio for those would cost two more system
  // calls.
  for (int round = 0; round < kRounds; ++round) {
    const std::uint64_t before = beats();
    const int ready = dispatch_once();
    const std::uint64_t answered = beats() - before;
    // One socket may have had data for many streams, and end-of-turn work gains from everything that is served before
    // it: both justify another round.
    if (ready < 2 && answered < (finishes_.empty() ? 2U : 1U)) break;
  }
  in_turn_ = false;
  std::swap(finishes_, finishing_);
  for (auto& finish : finishing_)
    call(finish);
  finishing_.clear();
}

void Readiness::at_end_of_turn(std::move_only_function<void()> finish) {
  if (in_turn_) return finishes_.push_back(std::move(finish));
  asio::post(io_, [finish = std::move(finish)]() mutable { finish(); });
}

int Readiness::dispatch_once() {
  std::array<epoll_event, kBatch> events;
  const int count = ::epoll_wait(epoll_.get(), events.data(), kBatch, 0);
  for (int i = 0; i < count; ++i) {
    auto& watch = *static_cast<Watch*>(events[static_cast<std::size_t>(i)].data.ptr);
    const std::uint32_t event = events[static_cast<std::size_t>(i)].events;
    if ((event & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0) watch.ended_ = true;
    if ((event & EPOLLIN) != 0 || watch.ended_) watch.half(Side::read).ready = true;
    if ((event & (EPOLLOUT | EPOLLHUP | EPOLLERR)) != 0) watch.half(Side::write).ready = true;
    ready_.push_back(&watch);
  }
  dispatching_ = true;
  SystemClock::Turn turn;
  unsigned called = 0;
  // A callback may stop any watch, also one that is still to be served here: `forget` sets its entry to null.
  for (std::size_t i = 0; i < ready_.size(); ++i) {
    for (const Side side : {Side::read, Side::write}) {
      Watch* const watch = ready_[i];
      if (watch == nullptr || !watch->half(side).ready || !watch->half(side).callback) continue;
      beat();
      if (++called % kOneTime == 0) turn.renew();
      call(take(*watch, side), ErrorCode{});
    }
  }
  ready_.clear();
  dispatching_ = false;
  return count;
}

Readiness::Callback Readiness::take(Watch& watch, Side side) {
  --waiting_;
  return std::exchange(watch.half(side).callback, nullptr);
}

void Readiness::forget(Watch& watch) {
  if (watch.previous_ != nullptr) {
    watch.previous_->next_ = watch.next_;
  } else if (first_ == &watch) {
    first_ = watch.next_;
  } else {
    return;  // already forgotten
  }
  if (watch.next_ != nullptr) watch.next_->previous_ = watch.previous_;
  watch.previous_ = watch.next_ = nullptr;
  for (Watch*& ready : ready_) {
    if (ready == &watch) ready = nullptr;
  }
}

Readiness::Watch::Watch(Readiness& readiness, int socket) : readiness_(readiness), socket_(socket) {
  epoll_event event{};
  event.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
  event.data.ptr = this;
  if (::epoll_ctl(readiness_.epoll_.get(), EPOLL_CTL_ADD, socket, &event) != 0) throw_errno("epoll_ctl");
  next_ = readiness_.first_;
  if (next_ != nullptr) next_->previous_ = this;
  readiness_.first_ = this;
}

Readiness::Watch::~Watch() { stop(); }

void Readiness::Watch::wait(Side side, Callback callback) {
  half(side).callback = std::move(callback);
  ++readiness_.waiting_;
  if (socket_ < 0) return complete_later(side, asio::error::operation_aborted);
  if (half(side).ready) return complete_later(side, {});
  readiness_.arm();
}

void Readiness::Watch::cancel(Side side) {
  if (!half(side).callback) return;
  complete_later(side, asio::error::operation_aborted);
  if (readiness_.waiting_ == 0 && readiness_.armed_) readiness_.waiter_->cancel();
}

void Readiness::Watch::exhausted(Side side) { half(side).ready = side == Side::read && ended_; }

void Readiness::Watch::stop() {
  if (socket_ < 0) return;
  epoll_event ignored{};
  ::epoll_ctl(readiness_.epoll_.get(), EPOLL_CTL_DEL, std::exchange(socket_, -1), &ignored);
  readiness_.forget(*this);
  cancel(Side::read);
  cancel(Side::write);
}

void Readiness::Watch::complete_later(Side side, ErrorCode error) {
  asio::post(readiness_.io_, [callback = readiness_.take(*this, side), error]() mutable { callback(error); });
}

}  // namespace proteus::net
