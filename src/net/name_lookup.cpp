#include "net/name_lookup.hpp"

#include <csignal>
#include <system_error>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <pthread.h>

#include "base/log.hpp"

namespace proteus::net {
namespace {

namespace asio = boost::asio;

// Signals are for the threads that were there before.
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

NameLookup::NameLookup(Ask ask, NameLookupLimits limits) : ask_(std::move(ask)), limits_(limits) {}

NameLookup::~NameLookup() {
  {
    const std::scoped_lock lock(mutex_);
    stopped_ = true;
  }
  wake_.notify_all();
  for (auto& thread : threads_)
    thread.join();
}

NameLookup::Wait::~Wait() {
  if (names_) names_->forget(name_, id_);
}

Result<NameLookup::Wait> NameLookup::find(std::string name, Notify notify) {
  const std::scoped_lock lock(mutex_);
  auto found = names_.find(name);
  if (found == names_.end()) {
    if (names_.size() >= limits_.names) {
      return std::unexpected(errors::unreachable("too many names of hosts are being looked up"));
    }
    queue_.push_back(name);
    if (!has_thread()) {
      queue_.pop_back();
      return std::unexpected(errors::unreachable("there is no thread to look up the name of a host"));
    }
    found = names_.emplace(name, Asked{}).first;
    wake_.notify_one();
  }
  const std::uint64_t id = ++last_id_;
  found->second.waiting.emplace(id, std::move(notify));
  return Wait(shared_from_this(), std::move(name), id);
}

// Starts one where all are busy.
bool NameLookup::has_thread() {
  if (idle_ >= queue_.size() || threads_.size() >= limits_.threads) return true;
  try {
    const NoSignals none;
    threads_.emplace_back([this] { run(); });
  } catch (const std::system_error& error) {
    log::warning("cannot start a thread that looks up names: {}", error.what());
  }
  return !threads_.empty();
}

void NameLookup::run() {
  ::pthread_setname_np(::pthread_self(), "names");
  std::unique_lock lock(mutex_);
  for (;;) {
    ++idle_;
    wake_.wait(lock, [this] { return stopped_ || !queue_.empty(); });
    --idle_;
    if (stopped_) return;
    const std::string name = std::move(queue_.front());
    queue_.pop_front();
    names_.at(name).is_under_way = true;
    lock.unlock();
    const FoundName found = ask_(name);
    lock.lock();
    // Under the lock, so that a Wait that is gone is not notified.
    const auto asked = names_.extract(name);
    for (const auto& [id, notify] : asked.mapped().waiting)
      notify(found);
  }
}

void NameLookup::forget(const std::string& name, std::uint64_t id) {
  const std::scoped_lock lock(mutex_);
  const auto found = names_.find(name);
  if (found == names_.end()) return;
  Asked& asked = found->second;
  asked.waiting.erase(id);
  if (!asked.waiting.empty() || asked.is_under_way) return;
  std::erase(queue_, name);
  names_.erase(found);
}

}  // namespace proteus::net
