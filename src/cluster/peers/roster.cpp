#include "cluster/peers/roster.hpp"

#include "json/message.hpp"
#include "json/text.hpp"

namespace proteus::cluster {
namespace {

// Repeated requests for a process that is gone do not read the store each time.
constexpr std::chrono::seconds kLookAgain{1};
constexpr std::size_t kMostMissed = 1000;

std::optional<net::Url> url_in(std::string_view facts) {
  const auto text = json::decode_string(json::find_member(facts, Roster::kUrlFact));
  auto url = text ? net::Url::parse(*text) : std::unexpected(errors::invalid("no URL"));
  return url && url->is_https() ? std::optional(std::move(*url)) : std::nullopt;
}

}  // namespace

void Roster::take(const std::vector<store::MemberRecord>& members) {
  Table table;
  for (const auto& member : members) {
    if (!member_.lives(member)) continue;
    auto& peer = table[process_key_of(member.name)];
    if (auto url = url_in(member.facts)) peer = std::make_shared<const Peer>(member.name, std::move(*url));
  }
  const std::scoped_lock lock(mutex_);
  table_ = std::move(table);
}

std::set<std::string> Roster::living() const {
  const std::scoped_lock lock(mutex_);
  std::set<std::string> names;
  for (const auto& [key, peer] : table_) {
    if (peer) names.insert(peer->name);
  }
  return names;
}

PeerPointer Roster::look_up(const ProcessKey& key) const {
  const std::scoped_lock lock(mutex_);
  const auto found = table_.find(key);
  return found == table_.end() ? nullptr : found->second;
}

bool Roster::is_known(const ProcessKey& key) const {
  const std::scoped_lock lock(mutex_);
  return table_.contains(key);
}

bool Roster::is_missed(const ProcessKey& key) const {
  const std::scoped_lock lock(mutex_);
  const auto found = missed_.find(key);
  return found != missed_.end() && member_.now() - found->second < kLookAgain;
}

// Reads the store.
Task<Result<>> Roster::look_for(ProcessKey key) {
  const auto asked = member_.now();
  const auto members = co_await store_.members();
  if (!members) {
    co_return std::unexpected(errors::unreachable(
        "the process that has this is not known here, and whether it lives cannot be found out: the store is away"));
  }
  take(*members);
  if (is_known(key)) co_return Result<>{};
  const std::scoped_lock lock(mutex_);
  if (missed_.size() >= kMostMissed) missed_.clear();
  missed_.insert_or_assign(std::move(key), asked);
  co_return Result<>{};
}

Task<Result<PeerPointer>> Roster::find(ProcessKey key) {
  if (is_known(key) || is_missed(key)) co_return look_up(key);
  co_return co_await find_in_store(std::move(key));
}

Task<Result<PeerPointer>> Roster::find_in_store(ProcessKey key) {
  if (auto looked = co_await look_for(key); !looked) co_return std::unexpected(std::move(looked).error());
  co_return look_up(key);
}

Task<Result<bool>> Roster::lives(ProcessKey key) {
  if (!is_known(key) && !is_missed(key)) {
    if (auto looked = co_await look_for(key); !looked) co_return std::unexpected(std::move(looked).error());
  }
  co_return is_known(key);
}

}  // namespace proteus::cluster
