#include "gateway/sign_in/awaited.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "mcp/notifications.hpp"

namespace proteus::gateway {

namespace asio = boost::asio;

// A call that waits. Used on the thread of the call only.
struct AwaitedSignIns::Waiting {
  explicit Waiting(const Executor& on) : executor(on), wake(on) {}

  Executor executor;
  asio::steady_timer wake;
  bool done = false;
};

bool AwaitedSignIns::is_full(std::size_t all, const ByPerson& by_person, const std::string& person) {
  const auto own = by_person.find(person);
  return all >= kMost || (own != by_person.end() && own->second >= kMostOfOne);
}

void AwaitedSignIns::forget_one(ByPerson& by_person, const std::string& person) {
  const auto own = by_person.find(person);
  if (--own->second == 0) by_person.erase(own);
}

AwaitedSignIns::Entry* AwaitedSignIns::entry_of(const Ticket& ticket) {
  forget_old();
  const auto found = entries_.find(ticket.id);
  if (found != entries_.end()) return &found->second;
  const std::string& person = ticket.person.key;
  if (is_full(entries_.size(), entries_by_person_, person)) return nullptr;
  ++entries_by_person_[person];
  by_time_.emplace_back(clock_.now() + kRemembered, ticket.id);
  Entry& entry = entries_[ticket.id];
  entry.person = person;
  return &entry;
}

void AwaitedSignIns::end_if_connected(const Ticket& ticket) {
  if (is_connected_ && is_connected_(ticket)) ended(ticket, SignInEnd::connected);
}

void AwaitedSignIns::connected(std::string_view person) {
  std::vector<Ticket> concerned;
  {
    const std::scoped_lock lock(mutex_);
    for (const auto& [id, entry] : entries_) {
      if (!entry.end && entry.ticket && entry.ticket->person.key == person) concerned.push_back(*entry.ticket);
    }
  }
  for (const Ticket& ticket : concerned)
    end_if_connected(ticket);
}

Task<std::optional<SignInEnd>> AwaitedSignIns::wait(Ticket ticket, server::Cancellation& cancellation,
                                                    std::chrono::milliseconds longest) {
  const auto waiting = std::make_shared<Waiting>(co_await asio::this_coro::executor);
  {
    const std::scoped_lock lock(mutex_);
    Entry* const entry = entry_of(ticket);
    if (entry == nullptr) co_return std::nullopt;
    if (entry->end) co_return entry->end;
    entry->ticket = ticket;
    std::erase_if(entry->waiting, [](const auto& each) { return each.expired(); });
    entry->waiting.push_back(waiting);
  }
  end_if_connected(ticket);
  if (const auto end = find(ticket.id)) co_return end;
  waiting->wake.expires_after(longest);
  const server::Cancellation::Hook stop(cancellation, [&waiting] {
    waiting->done = true;
    waiting->wake.cancel();
  });
  if (!waiting->done) {
    boost::system::error_code ignored;
    co_await waiting->wake.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  }
  co_return find(ticket.id);
}

void AwaitedSignIns::tell_later(const Ticket& ticket, std::weak_ptr<server::SessionStream> client) {
  {
    const std::scoped_lock lock(mutex_);
    Entry* const entry = entry_of(ticket);
    if (entry == nullptr || entry->end) return;
    entry->ticket = ticket;
    std::erase_if(entry->clients, [](const auto& each) { return each.expired(); });
    entry->clients.push_back(std::move(client));
  }
  end_if_connected(ticket);
}

void AwaitedSignIns::ended(const Ticket& ticket, SignInEnd how) {
  std::vector<std::weak_ptr<Waiting>> waiting;
  std::vector<std::weak_ptr<server::SessionStream>> clients;
  {
    const std::scoped_lock lock(mutex_);
    Entry* const entry = entry_of(ticket);
    if (entry == nullptr) return;
    entry->end = how;
    entry->ticket.reset();
    waiting.swap(entry->waiting);
    clients.swap(entry->clients);
  }
  for (const auto& each : waiting) {
    if (const auto one = each.lock()) {
      asio::post(one->executor, [one] {
        one->done = true;
        one->wake.cancel();
      });
    }
  }
  for (const auto& each : clients) {
    if (const auto client = each.lock()) {
      client->send(mcp::elicitation_complete_notification(ticket.id));
    }
  }
}

std::optional<SignInEnd> AwaitedSignIns::find(const std::string& ticket) const {
  const std::scoped_lock lock(mutex_);
  const auto found = entries_.find(ticket);
  return found == entries_.end() ? std::nullopt : found->second.end;
}

AwaitedSignIns::Claim AwaitedSignIns::claim(const std::string& number, const std::string& caller) {
  const auto now = clock_.now();
  const std::scoped_lock lock(mutex_);
  forget_old();
  if (claimed_.contains(number)) return Claim::again;
  if (is_full(claimed_.size(), claimed_by_person_, caller)) return Claim::full;
  ++claimed_by_person_[caller];
  claimed_.emplace(number, Claimed{caller, now + kRemembered});
  claimed_by_time_.push_back(number);
  return Claim::first;
}

void AwaitedSignIns::forget_old() {
  const auto now = clock_.now();
  while (!by_time_.empty() && by_time_.front().first <= now) {
    const auto found = entries_.find(by_time_.front().second);
    forget_one(entries_by_person_, found->second.person);
    entries_.erase(found);
    by_time_.pop_front();
  }
  while (!claimed_by_time_.empty()) {
    const auto found = claimed_.find(claimed_by_time_.front());
    if (found->second.until > now) break;
    forget_one(claimed_by_person_, found->second.caller);
    claimed_.erase(found);
    claimed_by_time_.pop_front();
  }
}

}  // namespace proteus::gateway
