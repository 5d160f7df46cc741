#include "gateway/bridge/parked_calls.hpp"

#include <algorithm>

#include <boost/asio/post.hpp>

#include "base/secrets/sealing.hpp"
#include "base/text/base64.hpp"
#include "mcp/errors.hpp"

namespace proteus::gateway {
namespace {

constexpr std::string_view kMark = "parked:";

}  // namespace

std::string_view to_string(Unparked how) {
  switch (how) {
    case Unparked::resumed: return "resumed";
    case Unparked::expired: return "expired";
    case Unparked::refused: return "refused";
    case Unparked::shut_down: break;
  }
  return "shut_down";
}

ProcessKey ParkedCalls::holder_of(std::string_view ticket) {
  ticket.remove_prefix(kMark.size());
  return ticket.find(':') == kProcessKeyText ? read_process_key(ticket) : ProcessKey();
}

bool ParkedCalls::is_ticket(std::string_view text) { return text.starts_with(kMark); }

Result<> ParkedCalls::admit(const std::string& ticket, const Call& call) {
  const std::scoped_lock lock(mutex_);
  if (closed_) return std::unexpected(errors::exhausted("the gateway is ending"));
  if (entries_.size() >= limits_.total) {
    return std::unexpected(errors::exhausted("too many calls wait for input; the call was cancelled"));
  }
  std::size_t& own = by_principal_[call.principal];
  if (own >= limits_.per_principal) {
    return std::unexpected(errors::exhausted("too many of your calls wait for input; this call was cancelled"));
  }
  ++own;
  entries_.emplace(ticket, Entry{call, clock_.now(), ++last_number_});
  return {};
}

Result<std::string> ParkedCalls::park(Call call) {
  std::string ticket(kMark);
  if (!process_.value().empty()) ticket += to_text(process_) + ":";
  ticket += base64_encode(random_bytes(24));
  if (auto admitted = admit(ticket, call); !admitted) {
    call.running->cancel();
    if (observer_) observer_(Unparked::refused, {});
    return std::unexpected(admitted.error());
  }
  call.running->start_timer(limits_.deadline, [this, ticket, running = call.running] {
    if (remove(ticket, Unparked::expired)) running->cancel();
  });
  return ticket;
}

std::optional<ParkedCalls::Call> ParkedCalls::remove(const std::string& ticket, Unparked how) {
  std::optional<Entry> entry;
  {
    const std::scoped_lock lock(mutex_);
    const auto found = entries_.find(ticket);
    if (found == entries_.end()) return std::nullopt;
    entry = std::move(found->second);
    entries_.erase(found);
    const auto own = by_principal_.find(entry->call.principal);
    if (--own->second == 0) by_principal_.erase(own);
  }
  if (observer_) observer_(how, clock_.now() - entry->since);
  return std::move(entry->call);
}

Result<ParkedCalls::Call> ParkedCalls::take(std::string_view ticket) {
  auto call = remove(std::string(ticket), Unparked::resumed);
  if (call) return std::move(*call);
  return std::unexpected(mcp::errors::invalid_params(
      "the call that this requestState belongs to no longer waits: it was already answered, it expired, or the gateway "
      "was restarted. It was not run again. To start again, send the request without requestState"));
}

void ParkedCalls::cancel(const Call& call) {
  boost::asio::post(call.running->thread(), [running = call.running] {
    running->stop_timer();
    running->cancel();
  });
}

void ParkedCalls::cancel(const std::string& ticket) {
  if (const auto call = remove(ticket, Unparked::refused)) cancel(*call);
}

void ParkedCalls::cancel_of(const std::string& principal) {
  std::vector<std::string> tickets;
  {
    const std::scoped_lock lock(mutex_);
    if (!by_principal_.contains(principal)) return;
    for (const auto& [ticket, entry] : entries_) {
      if (entry.call.principal == principal) tickets.push_back(ticket);
    }
  }
  for (const auto& ticket : tickets)
    cancel(ticket);
}

std::vector<ParkedCalls::Waiting> ParkedCalls::all() const {
  const std::scoped_lock lock(mutex_);
  std::vector<Waiting> all;
  all.reserve(entries_.size());
  for (const auto& [ticket, entry] : entries_)
    all.push_back({entry.number, entry.call.principal, entry.call.upstream->settings().name, entry.since});
  return all;
}

std::optional<std::string> ParkedCalls::cancel_one(std::uint64_t number) {
  std::string ticket;
  {
    const std::scoped_lock lock(mutex_);
    const auto found = std::ranges::find_if(entries_, [&](const auto& one) { return one.second.number == number; });
    if (found == entries_.end()) return std::nullopt;
    ticket = found->first;
  }
  const auto call = remove(ticket, Unparked::refused);
  if (!call) return std::nullopt;
  cancel(*call);
  return call->principal;
}

void ParkedCalls::close() {
  std::unordered_map<std::string, Entry> entries;
  {
    const std::scoped_lock lock(mutex_);
    closed_ = true;
    entries.swap(entries_);
    by_principal_.clear();
  }
  for (const auto& [ticket, entry] : entries) {
    cancel(entry.call);
    if (observer_) observer_(Unparked::shut_down, clock_.now() - entry.since);
  }
}

std::size_t ParkedCalls::size() const {
  const std::scoped_lock lock(mutex_);
  return entries_.size();
}

}  // namespace proteus::gateway
