#include "gateway/sign_in/ticket.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "base/text/base64.hpp"

namespace proteus::gateway {
namespace {

constexpr std::string_view kTicketBound = "ticket";
constexpr std::size_t kLongestTicket = std::size_t{16} << 10U;
constexpr std::size_t kTicketIdBytes = 18;

using Seconds = std::chrono::seconds;

std::string write(const Ticket& ticket) {
  boost::json::array scopes(ticket.scopes.begin(), ticket.scopes.end());
  const boost::json::object out{
      {"id", ticket.id},
      {"kind", static_cast<int>(ticket.person.kind)},
      {"key", ticket.person.key},
      {"issuer", ticket.person.issuer},
      {"name", ticket.person_name},
      {"upstream", ticket.upstream},
      {"scopes", std::move(scopes)},
      {"challenge", ticket.challenge},
      {"client", ticket.client},
      {"connected_at", std::chrono::duration_cast<Seconds>(ticket.connected_at.time_since_epoch()).count()},
      {"until", std::chrono::duration_cast<Seconds>(ticket.until.time_since_epoch()).count()}};
  return boost::json::serialize(out);
}

// Reads only what was sealed here.
Ticket read_sealed(const std::string& plain) {
  const auto parsed = boost::json::parse(plain).as_object();
  const auto text = [&](const char* key) { return std::string(parsed.at(key).as_string()); };
  Ticket ticket;
  ticket.id = text("id");
  ticket.person = {static_cast<Person::Kind>(parsed.at("kind").as_int64()), text("key"), text("issuer")};
  ticket.person_name = text("name");
  ticket.upstream = text("upstream");
  for (const auto& scope : parsed.at("scopes").as_array())
    ticket.scopes.emplace_back(scope.as_string());
  ticket.challenge = text("challenge");
  ticket.client = text("client");
  // Tickets of earlier versions have none.
  if (const auto* at = parsed.if_contains("connected_at")) ticket.connected_at = Clock::Wall(Seconds(at->as_int64()));
  ticket.until = Clock::Wall(Seconds(parsed.at("until").as_int64()));
  return ticket;
}

Error not_valid() { return errors::not_found("This link is not valid, or not any more"); }

}  // namespace

Result<Tickets::Issued> Tickets::issue(Ticket ticket) {
  const auto now = clock_.wall();
  const std::scoped_lock lock(mutex_);
  forget_old(now);
  const Place place(ticket.person, ticket.upstream);
  const auto known = open_.find(place);
  const bool is_same_question = known != open_.end() && known->second.scopes == ticket.scopes &&
                                known->second.connected_at == ticket.connected_at;
  if (is_same_question) {
    ticket.id = known->second.id;
    ticket.until = known->second.until;
    return Issued{std::move(ticket), known->second.text};
  }
  std::size_t& of_one = of_one_[ticket.person];
  if (known == open_.end() && (open_.size() >= kMostOpen || of_one >= kMostOfOne)) {
    if (of_one == 0) of_one_.erase(ticket.person);
    return std::unexpected(errors::exhausted("too many sign-ins are open; try again in some minutes"));
  }
  if (known == open_.end()) ++of_one;
  ticket.id = base64_encode(random_bytes(kTicketIdBytes), Base64::url);
  // The ticket is written in whole seconds.
  ticket.until = std::chrono::time_point_cast<Seconds>(now) + kLifetime;
  std::string text = base64_encode(key_.seal(write(ticket), kTicketBound), Base64::url);
  open_.insert_or_assign(place, Open{ticket.id, ticket.scopes, ticket.connected_at, text, ticket.until});
  by_time_.emplace_back(ticket.until, place);
  return Issued{std::move(ticket), std::move(text)};
}

Result<Ticket> Tickets::unseal(std::string_view text) const {
  if (text.size() > kLongestTicket) return std::unexpected(not_valid());
  const auto sealed = base64_decode(text, Base64::url);
  const auto plain = sealed ? key_.open(*sealed, kTicketBound) : std::nullopt;
  if (!plain) return std::unexpected(not_valid());
  Ticket ticket = read_sealed(*plain);
  if (ticket.until <= clock_.wall()) return std::unexpected(not_valid());
  return ticket;
}

Result<Ticket> Tickets::read(std::string_view text) const {
  auto ticket = unseal(text);
  if (!ticket) return ticket;
  const std::scoped_lock lock(mutex_);
  if (used_.contains(ticket->id)) return std::unexpected(not_valid());
  // A ticket of an earlier process is valid although it is not in `open_`.
  const auto known = open_.find({ticket->person, ticket->upstream});
  if (known != open_.end() && known->second.id != ticket->id) return std::unexpected(not_valid());
  return ticket;
}

bool Tickets::use(const Ticket& ticket) {
  const auto now = clock_.wall();
  const std::scoped_lock lock(mutex_);
  forget_old(now);
  if (ticket.until <= now) return false;
  if (!used_.emplace(ticket.id, ticket.until).second) return false;
  used_in_order_.push_back(ticket.id);
  const auto known = open_.find({ticket.person, ticket.upstream});
  if (known == open_.end() || known->second.id != ticket.id) return true;
  open_.erase(known);
  const auto count = of_one_.find(ticket.person);
  if (--count->second == 0) of_one_.erase(count);
  return true;
}

void Tickets::forget_old(Clock::Wall now) {
  while (!by_time_.empty() && by_time_.front().first <= now) {
    const auto known = open_.find(by_time_.front().second);
    if (known != open_.end() && known->second.until <= now) {
      const auto count = of_one_.find(known->first.first);
      if (--count->second == 0) of_one_.erase(count);
      open_.erase(known);
    }
    by_time_.pop_front();
  }
  // In the order of use, which is nearly the order of expiry. The last ones are kept whatever the time is, so that
  // setting the clock back makes no used ticket valid again.
  while (used_.size() > kUsedKept && used_.at(used_in_order_.front()) <= now) {
    used_.erase(used_in_order_.front());
    used_in_order_.pop_front();
  }
}

std::size_t Tickets::open() const {
  const std::scoped_lock lock(mutex_);
  return open_.size();
}

}  // namespace proteus::gateway
