#include "net/http_client/name_lookup.hpp"

#include <condition_variable>
#include <csignal>
#include <deque>
#include <map>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <pthread.h>

#include "base/log/log.hpp"

namespace proteus::net {
namespace {

namespace asio = boost::asio;

// Blocks all signals while it lives. A thread that is started meanwhile inherits that, and leaves signals to the
// threads that existed before.
class NoSignals {
 public:
  NoSignals() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~NoSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  NoSignals(const NoSignals&) = delete;
  NoSignals& operator=(const NoSignals&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace

FoundName NameLookup::ask_system(const std::string& name) {
  asio::io_context io(1);
  asio::ip::tcp::resolver resolver(io);
  FoundName found;
  for (const auto& entry : resolver.resolve(name, "", asio::ip::resolver_base::flags(), found.error))
    found.addresses.push_back(entry.endpoint().address());
  return found;
}

struct NameLookup::Board {
  explicit Board(Ask how) : ask(std::move(how)) {}

  struct Asked {
    std::map<std::uint64_t, Notify> waiting;
    bool is_under_way = false;
  };

  const Ask ask;
  std::mutex mutex;  // guards the members below
  std::condition_variable wake;
  std::map<std::string, Asked> names;
  std::deque<std::string> queue;  // names that no thread looks up yet
  std::uint64_t last_id = 0;
  std::size_t idle = 0;
  bool stopped = false;
};

struct NameLookup::Asker {
  std::thread thread;
  bool is_asking = false;  // guarded by the mutex of the board
};

NameLookup::NameLookup(Ask ask, NameLookupLimits limits)
    : limits_(limits), board_(std::make_shared<Board>(std::move(ask))) {}

NameLookup::~NameLookup() {
  {
    const std::scoped_lock lock(board_->mutex);
    board_->stopped = true;
    for (const auto& asker : askers_) {
      if (asker->is_asking) asker->thread.detach();
    }
  }
  board_->wake.notify_all();
  for (const auto& asker : askers_) {
    if (asker->thread.joinable()) asker->thread.join();
  }
}

NameLookup::Wait::~Wait() {
  if (names_) names_->forget(name_, id_);
}

Result<NameLookup::Wait> NameLookup::find(std::string name, Notify notify) {
  const std::scoped_lock lock(board_->mutex);
  auto found = board_->names.find(name);
  if (found == board_->names.end()) {
    if (board_->names.size() >= limits_.names) {
      return std::unexpected(errors::unreachable("too many names of hosts are being looked up"));
    }
    board_->queue.push_back(name);
    if (!has_thread()) {
      board_->queue.pop_back();
      return std::unexpected(errors::unreachable("there is no thread to look up the name of a host"));
    }
    found = board_->names.emplace(name, Board::Asked{}).first;
    board_->wake.notify_one();
  }
  const std::uint64_t id = ++board_->last_id;
  found->second.waiting.emplace(id, std::move(notify));
  return Wait(shared_from_this(), std::move(name), id);
}

// Starts a thread if all are busy. Returns whether there is any thread.
bool NameLookup::has_thread() {
  if (board_->idle >= board_->queue.size() || askers_.size() >= limits_.threads) return true;
  try {
    const NoSignals none;
    const auto asker = std::make_shared<Asker>();
    asker->thread = std::thread([board = board_, asker] { run(board, asker); });
    askers_.push_back(asker);
  } catch (const std::system_error& error) {
    log::warning("cannot start a thread that looks up names: {}", error.what());
  }
  return !askers_.empty();
}

void NameLookup::run(const std::shared_ptr<Board>& board, const std::shared_ptr<Asker>& self) {
  ::pthread_setname_np(::pthread_self(), "names");
  std::unique_lock lock(board->mutex);
  for (;;) {
    ++board->idle;
    board->wake.wait(lock, [&] { return board->stopped || !board->queue.empty(); });
    --board->idle;
    if (board->stopped) return;
    const std::string name = std::move(board->queue.front());
    board->queue.pop_front();
    board->names.at(name).is_under_way = true;
    self->is_asking = true;
    lock.unlock();
    const FoundName found = board->ask(name);
    lock.lock();
    self->is_asking = false;
    if (board->stopped) return;
    // Under the lock, so that no callback runs after its Wait was destroyed.
    const auto asked = board->names.extract(name);
    for (const auto& [id, notify] : asked.mapped().waiting)
      notify(found);
  }
}

void NameLookup::forget(const std::string& name, std::uint64_t id) {
  const std::scoped_lock lock(board_->mutex);
  const auto found = board_->names.find(name);
  if (found == board_->names.end()) return;
  Board::Asked& asked = found->second;
  asked.waiting.erase(id);
  if (!asked.waiting.empty() || asked.is_under_way) return;
  std::erase(board_->queue, name);
  board_->names.erase(found);
}

}  // namespace proteus::net
