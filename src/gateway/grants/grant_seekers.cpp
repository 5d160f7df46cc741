#include "gateway/grants/grant_seekers.hpp"

#include "gateway/callers/principal.hpp"

namespace proteus::gateway {

std::shared_ptr<const GrantSeeker> GrantSeekers::of(const server::Caller& caller, std::uint64_t upstream,
                                                    const std::string& target, std::string_view token) {
  const Key key{caller.grant.get(), upstream};
  const auto found = known_.find(key);
  // Timing reveals nothing here: the caller was identified by this very token.
  if (found != known_.end() && found->second.seeker->caller_token.reveal() == token) {
    found->second.used = true;
    return found->second.seeker;
  }
  auto owner = owner_of(principal_of(caller));
  if (!owner) return nullptr;
  Secret caller_token{std::string(token)};
  GrantKey sought{std::move(*owner), GrantTarget(target), caller_token};
  auto seeker = std::make_shared<const GrantSeeker>(
      GrantSeeker{.key = std::move(sought), .caller_token = std::move(caller_token)});
  if (known_.size() >= kMost) known_.clear();
  known_.insert_or_assign(key, Known{.principal = caller.grant, .seeker = seeker});
  return seeker;
}

void GrantSeekers::drop_unused() {
  std::erase_if(known_, [](const auto& entry) { return !entry.second.used; });
  for (auto& [key, known] : known_)
    known.used = false;
}

}  // namespace proteus::gateway
