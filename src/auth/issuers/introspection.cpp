#include "auth/issuers/introspection.hpp"

#include <algorithm>
#include <utility>

#include "json/text.hpp"

namespace proteus::auth {

Introspection::Introspection(std::shared_ptr<IssuerHome> home, std::shared_ptr<IssuerDocuments> documents,
                             std::string issuer)
    : home_(std::move(home)), documents_(std::move(documents)), issuer_(std::move(issuer)) {}

Task<Result<Introspected>> Introspection::ask(std::shared_ptr<Introspection> introspection, Secret token) {
  const auto delivery = std::make_shared<Delivery<Outcome>>();
  boost::asio::post(introspection->home_->executor, [introspection, delivery, token = std::move(token)]() mutable {
    introspection->join(delivery, std::move(token));
  });
  co_return co_await Delivery<Outcome>::receive(delivery);
}

void Introspection::sweep() {
  boost::asio::post(home_->executor, [self = shared_from_this()] {
    const Clock::Wall now = self->home_->clock.wall();
    self->active_.sweep(now);
    self->inactive_.sweep(now);
  });
}

void Introspection::join(const std::shared_ptr<Delivery<Outcome>>& waiter, Secret token) {
  if (home_->is_closed) return waiter->deliver(std::unexpected(errors::cancelled("an introspection")));
  const json::Digest digest = json::sha256(token.reveal());
  const Clock::Wall now = home_->clock.wall();
  if (const auto* known = active_.find(digest, now)) return waiter->deliver(*known);
  if (const auto* known = inactive_.find(digest, now)) return waiter->deliver(*known);
  const auto asked = asked_.find(digest);
  if (asked != asked_.end()) return asked->second.add(waiter);
  if (asked_.size() >= kMaxAsked)
    return waiter->deliver(std::unexpected(errors::exhausted("too many tokens are being introspected")));
  if (strikes_.pause(home_->clock.now()).count() > 0)
    return waiter->deliver(std::unexpected(errors::exhausted("too many tokens were not active lately")));
  asked_[digest].add(waiter);
  home_->tasks.spawn("introspection", run(shared_from_this(), std::move(token), digest));
}

Task<> Introspection::run(std::shared_ptr<Introspection> introspection, Secret token, json::Digest digest) {
  // Notifies the waiters, however the coroutine ends.
  struct Ending {
    Introspection& introspection;
    const json::Digest& digest;
    Outcome outcome = std::unexpected(errors::cancelled("an introspection"));
    ~Ending() { introspection.finish(digest, outcome); }
  };
  Ending ending{*introspection, digest};
  const auto answer = co_await introspection->documents_->introspect(std::move(token));
  if (answer) {
    ending.outcome = introspection->read(*answer);
  } else {
    ending.outcome = std::unexpected(answer.error());
  }
}

Introspection::Outcome Introspection::read(const std::string& answer) const {
  constexpr std::size_t kMaxDepth = 32;
  auto document = json::parse(answer, kMaxDepth);
  if (!document || !document->is_object())
    return std::unexpected(errors::protocol("the answer of an introspection is not a JSON object"));
  auto& object = document->get_object();
  const auto* active = object.if_contains("active");
  if (active == nullptr || !active->is_bool())
    return std::unexpected(errors::protocol("the answer of an introspection does not say whether the token is active"));
  const Clock::Wall now = home_->clock.wall();
  if (!active->get_bool()) return Introspected{nullptr, now + kInactive};
  // Only the issuer that was asked can have answered, so the answer need not name it.
  if (!object.contains("iss")) object["iss"] = issuer_;
  auto claims = Claims::read(std::move(object));
  if (!claims) return std::unexpected(std::move(claims.error()).within("the answer of an introspection"));
  Clock::Wall until = now + kActive;
  if (claims->expires()) until = std::min(until, *claims->expires());
  return Introspected{std::make_shared<const Claims>(std::move(*claims)), until};
}

void Introspection::finish(const json::Digest& digest, const Outcome& outcome) {
  if (outcome) {
    if (!outcome->claims) strikes_.add(home_->clock.now());
    auto& kept = outcome->claims ? active_ : inactive_;
    kept.keep(digest, *outcome, outcome->until, home_->clock.wall());
  }
  auto asked = asked_.extract(digest);
  asked.mapped().deliver(outcome);
}

}  // namespace proteus::auth
