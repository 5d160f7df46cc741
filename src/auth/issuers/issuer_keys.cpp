#include "auth/issuers/issuer_keys.hpp"

#include <utility>

#include "base/log/log.hpp"

namespace proteus::auth {

IssuerKeys::IssuerKeys(std::shared_ptr<IssuerHome> home, std::shared_ptr<IssuerDocuments> documents, std::string issuer)
    : home_(std::move(home)), documents_(std::move(documents)), issuer_(std::move(issuer)) {}

Task<Result<KeysPointer>> IssuerKeys::fetch(std::shared_ptr<IssuerKeys> keys, KeysPointer seen) {
  const auto delivery = std::make_shared<Delivery<Outcome>>();
  boost::asio::post(keys->home_->executor, [keys, delivery, seen] { keys->join(delivery, seen); });
  co_return co_await Delivery<Outcome>::receive(delivery);
}

void IssuerKeys::refresh_if_old() {
  const auto now = home_->clock.recent().time_since_epoch().count();
  auto due = refresh_at_.load(std::memory_order_relaxed);
  if (now < due) return;
  // The first thread that notices starts the fetch; no thread waits for it.
  const auto next = now + std::chrono::duration_cast<Clock::Monotonic::duration>(kInterval).count();
  if (!refresh_at_.compare_exchange_strong(due, next)) return;
  boost::asio::post(home_->executor, [keys = shared_from_this()] { keys->start(); });
}

void IssuerKeys::join(const std::shared_ptr<Delivery<Outcome>>& waiter, const KeysPointer& seen) {
  if (home_->is_closed) return waiter->deliver(std::unexpected(errors::cancelled("fetching the keys of an issuer")));
  if (auto now_known = known(); now_known != seen && !is_fetching_) return waiter->deliver(std::move(now_known));
  if (!is_fetching_ && home_->clock.now() < next_fetch_)
    return waiter->deliver(std::unexpected(errors::exhausted("the keys were fetched a few seconds ago")));
  waiters_.add(waiter);
  start();
}

void IssuerKeys::start() {
  if (is_fetching_ || home_->is_closed || home_->clock.now() < next_fetch_) return;
  is_fetching_ = true;
  next_fetch_ = home_->clock.now() + kInterval;
  home_->tasks.spawn("keys of an issuer", run(shared_from_this()));
}

Task<> IssuerKeys::run(std::shared_ptr<IssuerKeys> keys) {
  // Notifies the waiters, however the coroutine ends.
  struct Ending {
    IssuerKeys& keys;
    Outcome outcome = std::unexpected(errors::cancelled("fetching the keys of an issuer"));
    ~Ending() { keys.finish(outcome); }
  };
  Ending ending{*keys};
  auto fetched = co_await keys->documents_->keys();
  if (fetched) {
    ending.outcome = std::make_shared<const KeySet>(std::move(*fetched));
  } else {
    ending.outcome = std::unexpected(std::move(fetched.error()));
  }
}

void IssuerKeys::finish(const Outcome& outcome) {
  is_fetching_ = false;
  {
    const std::scoped_lock lock(status_mutex_);
    ++status_.fetches;
    status_.fault = outcome ? "" : outcome.error().message();
    if (outcome) {
      status_.fetched = home_->clock.wall();
      status_.keys = (*outcome)->keys().size();
    }
  }
  if (outcome) {
    keys_.set(*outcome);
    refresh_at_ = (home_->clock.now() + kFresh).time_since_epoch().count();
    log::info("fetched {} keys of the issuer {}, {} were left out", (*outcome)->keys().size(), issuer_,
              (*outcome)->left_out());
  } else if (outcome.error().kind() != ErrorKind::cancelled) {
    log::warning("the keys of the issuer {} cannot be fetched: {}; {}", issuer_, outcome.error().message(),
                 known() ? "those known stay good" : "its tokens are refused");
  }
  waiters_.deliver(outcome);
}

IssuerKeys::Status IssuerKeys::status() const {
  const std::scoped_lock lock(status_mutex_);
  return status_;
}

}  // namespace proteus::auth
