#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include <proteus/error.hpp>

#include "auth/issuers/issuer_documents.hpp"
#include "auth/issuers/issuer_home.hpp"
#include "auth/tokens/key_set.hpp"
#include "base/clock.hpp"
#include "base/published.hpp"

namespace proteus::auth {

using KeysPointer = std::shared_ptr<const KeySet>;

// The keys of one issuer, as last fetched. They stay in use while the issuer cannot be reached. Shared; thread-safe.
class IssuerKeys : public std::enable_shared_from_this<IssuerKeys> {
 public:
  // `kInterval` is the minimum time between two fetches, whatever keys tokens name. Keys older than `kFresh` are
  // fetched again in the background.
  static constexpr std::chrono::seconds kInterval{10};
  static constexpr std::chrono::minutes kFresh{10};

  IssuerKeys(std::shared_ptr<IssuerHome> home, std::shared_ptr<IssuerDocuments> documents, std::string issuer);

  // Returns null before the first successful fetch.
  KeysPointer known() const { return keys_.get(); }
  // Returns newer keys than `seen`, which were not enough, and fetches them if needed. Callers that wait at the same
  // time share one fetch. Fails with `exhausted` if the last fetch began less than kInterval ago, or with the error of
  // the fetch.
  static Task<Result<KeysPointer>> fetch(std::shared_ptr<IssuerKeys> keys, KeysPointer seen);
  // Fetches the keys in the background if they are missing or old.
  void refresh_if_old();

  // For operators.
  struct Status {
    std::size_t keys = 0;
    std::size_t fetches = 0;
    std::optional<Clock::Wall> fetched;  // time of the last successful fetch
    std::string fault;                   // error of the last fetch; empty if it succeeded
  };
  Status status() const;

 private:
  using Outcome = Result<KeysPointer>;

  void join(const std::shared_ptr<Delivery<Outcome>>& waiter, const KeysPointer& seen);
  void start();
  static Task<> run(std::shared_ptr<IssuerKeys> keys);
  void finish(const Outcome& outcome);

  const std::shared_ptr<IssuerHome> home_;
  const std::shared_ptr<IssuerDocuments> documents_;
  const std::string issuer_;
  Published<KeySet> keys_{nullptr};
  std::atomic<Clock::Monotonic::rep> refresh_at_ = 0;

  // Belong to the home's thread.
  bool is_fetching_ = false;
  Clock::Monotonic next_fetch_{};
  Waiters<Outcome> waiters_;

  mutable std::mutex status_mutex_;
  Status status_;
};

}  // namespace proteus::auth
