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

// The keys of one issuer, as last fetched: those stay good while the issuer cannot be reached. Shared; any thread.
class IssuerKeys : public std::enable_shared_from_this<IssuerKeys> {
 public:
  // How often they are fetched at most, whatever tokens ask for, and after which time they are fetched aside.
  static constexpr std::chrono::seconds kInterval{10};
  static constexpr std::chrono::minutes kFresh{10};

  IssuerKeys(std::shared_ptr<IssuerHome> home, std::shared_ptr<IssuerDocuments> documents, std::string issuer);

  // Null before the first were fetched.
  KeysPointer known() const { return keys_.get(); }
  // Keys that are newer than those that were not enough. All who ask meanwhile share one fetch. Fails with `exhausted`
  // where the last fetch was too short a time ago, or as the fetch does.
  static Task<Result<KeysPointer>> fetch(std::shared_ptr<IssuerKeys> keys, KeysPointer seen);
  // Fetches them aside where they are missing or old.
  void refresh_if_old();

  // What an operator wants to know.
  struct Status {
    std::size_t keys = 0;
    std::size_t fetches = 0;
    std::optional<Clock::Wall> fetched;  // last with success
    std::string fault;                   // of the last fetch; empty where it succeeded
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

  // Of the home's thread.
  bool is_fetching_ = false;
  Clock::Monotonic next_fetch_{};
  Waiters<Outcome> waiters_;

  mutable std::mutex status_mutex_;
  Status status_;
};

}  // namespace proteus::auth
