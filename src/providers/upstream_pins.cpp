#include "providers/upstream_pins.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/log/log.hpp"
#include "json/canonical.hpp"

namespace proteus::providers {

using catalog::Kind;
using catalog::Proposal;

namespace {

std::size_t size_of(const Proposal& proposal) {
  std::size_t bytes = sizeof(Proposal) + proposal.name.size() + proposal.before.size() + proposal.after.size();
  for (const auto& reason : proposal.reasons)
    bytes += reason.size();
  return bytes;
}

bool is_of(const auto& key, std::string_view kind, std::string_view own) {
  return std::get<0>(key) == kind && std::get<1>(key) == own;
}

}  // namespace

UpstreamPins::UpstreamPins(std::string upstream, const std::vector<store::PinRecord>& decided, std::size_t most_bytes)
    : upstream_(std::move(upstream)), most_bytes_(most_bytes) {
  catalog::Pins pins;
  for (const auto& record : decided) {
    if (const auto taken = decide(pins, record); !taken) {
      log::error("upstream {}: a decision about {} {} does not hold: {}", upstream_, record.kind,
                 log::printable(record.name, 200), taken.error().message());
    }
  }
  pins_ = std::make_shared<const catalog::Pins>(std::move(pins));
}

Result<> UpstreamPins::decide(catalog::Pins& pins, const store::PinRecord& record) {
  if (record.verdict == store::Verdict::rejected) {
    pins.reject(record.kind, record.name, record.hash);
    return {};
  }
  if (auto taken = pins.ratify(record.kind, record.name, record.hash, record.definition); !taken) return taken;
  if (record.kind == catalog::info(Kind::resource_template).plural) {
    if (auto pattern = mcp::UriPattern::parse(record.name))
      templates_.insert_or_assign(record.name, std::move(*pattern));
  }
  return {};
}

Result<> UpstreamPins::take(const store::PinRecord& record) {
  Posting removed;
  const std::scoped_lock lock(mutex_);
  catalog::Pins pins = *pins_;
  if (auto taken = decide(pins, record); !taken) return taken;
  pins_ = std::make_shared<const catalog::Pins>(std::move(pins));
  // A change that found no room was judged against the definition that this one replaces.
  if (record.verdict != store::Verdict::rejected) forget_unkept(record.kind, record.name);
  const auto posted = posted_.find({record.kind, record.name, record.hash});
  if (posted == posted_.end()) return {};
  if (record.verdict == store::Verdict::rejected) {
    posted->second.rejected = true;
  } else {
    remove(posted, removed);
  }
  return {};
}

bool UpstreamPins::has(const store::PinRecord& record) const {
  const std::scoped_lock lock(mutex_);
  if (record.verdict == store::Verdict::rejected) return pins_->is_rejected(record.kind, record.name, record.hash);
  const auto* const ratified = pins_->find(record.kind, record.name);
  return ratified != nullptr && ratified->hash == record.hash;
}

UpstreamPins::Posting UpstreamPins::posting(std::vector<Proposal> proposals) const {
  Posting all;
  for (auto& proposal : proposals) {
    Key key{proposal.kind, proposal.name, proposal.hash};
    std::string id = id_of(proposal);
    const bool rejected = proposal.rejected;
    all.insert_or_assign(std::move(key),
                         Posted{{std::move(id), std::make_shared<const Proposal>(std::move(proposal))}, rejected});
  }
  return all;
}

UpstreamPins::Posting::iterator UpstreamPins::remove(Posting::iterator posted, Posting& removed) {
  by_id_.erase(posted->second.posted.id);
  posted_bytes_ -= size_of(*posted->second.posted.proposal);
  const auto next = std::next(posted);
  removed.insert(posted_.extract(posted));
  return next;
}

void UpstreamPins::forget_unkept(std::string_view kind, std::string_view own) {
  const auto unkept = unkept_.find(kind);
  if (unkept != unkept_.end()) unkept->second.breaking.erase(std::string(own));
}

UpstreamPins::Posting UpstreamPins::post(Posting proposals, std::string_view kind, Reading reading) {
  Posting replaced;
  if (reading == Reading::whole) {
    for (auto at = posted_.lower_bound({std::string(kind), {}, {}});
         at != posted_.end() && std::get<0>(at->first) == kind;)
      at = remove(at, replaced);
    if (const auto unkept = unkept_.find(kind); unkept != unkept_.end()) unkept_.erase(unkept);
  }
  std::size_t left_out = 0;
  for (auto at = proposals.begin(); at != proposals.end();) {
    if (const auto known = posted_.find(at->first); known != posted_.end()) remove(known, replaced);
    const Proposal& proposal = *at->second.posted.proposal;
    const std::size_t bytes = size_of(proposal);
    if (posted_.size() >= kMostPosted || posted_bytes_ + bytes > most_bytes_) {
      Unkept& unkept = unkept_[proposal.kind];
      unkept.count = ++left_out;
      if (proposal.breaking) unkept.breaking.insert(proposal.name);
      ++at;
      continue;
    }
    // From now on the posted proposal blocks calls, until a person decides about it.
    if (proposal.breaking) forget_unkept(proposal.kind, proposal.name);
    posted_bytes_ += bytes;
    by_id_.insert_or_assign(at->second.posted.id, at->first);
    posted_.insert(proposals.extract(at++));
  }
  replaced.merge(proposals);
  return replaced;
}

std::vector<std::string> UpstreamPins::judge(const catalog::DefinitionList& listed, Reading reading) {
  std::shared_ptr<const catalog::Pins> pins;
  {
    const std::scoped_lock lock(mutex_);
    pins = pins_;
  }
  auto judgement = catalog::judge(*pins, listed);
  Posting proposals = posting(std::move(judgement.proposals));
  Posting replaced;
  const std::string_view kind = catalog::info(listed.kind()).plural;
  const std::scoped_lock lock(mutex_);
  if (reading == Reading::part) {
    // What this caller sees as it was ratified no longer misreads calls.
    for (const auto& definition : listed.definitions()) {
      const auto* ratified = pins_->find(kind, definition.own);
      if (ratified == nullptr || ratified->hash != json::hex(definition.hash)) continue;
      forget_unkept(kind, definition.own);
      for (auto at = posted_.lower_bound({std::string(kind), std::string(definition.own), {}});
           at != posted_.end() && is_of(at->first, kind, definition.own);) {
        at = at->second.posted.proposal->breaking ? remove(at, replaced) : std::next(at);
      }
    }
  }
  replaced.merge(post(std::move(proposals), kind, reading));
  return std::move(judgement.served);
}

void UpstreamPins::judge_instructions(const std::string& text) {
  Posting replaced;
  const std::scoped_lock lock(mutex_);
  auto judgement = catalog::judge_instructions(*pins_, text);
  instructions_ = std::move(judgement.served.front());
  replaced = post(posting(std::move(judgement.proposals)), catalog::kInstructions, Reading::whole);
}

std::string UpstreamPins::instructions() const {
  const std::scoped_lock lock(mutex_);
  return instructions_;
}

bool UpstreamPins::admits(Kind kind, std::string_view own) const {
  if (own.size() > catalog::kLongestUri) return false;
  const std::scoped_lock lock(mutex_);
  if (pins_->find(catalog::info(kind).plural, own) != nullptr) return true;
  // A URI may match a template, and a reference to a template may look like one to a resource.
  const Kind other = kind == Kind::resource ? Kind::resource_template : Kind::resource;
  if (kind != Kind::resource && kind != Kind::resource_template) return false;
  std::size_t steps = mcp::UriPattern::kSteps;
  return pins_->find(catalog::info(other).plural, own) != nullptr ||
         std::ranges::any_of(templates_, [&](const auto& entry) { return entry.second.matches(own, steps); });
}

std::optional<std::string> UpstreamPins::blocked(Kind kind, std::string_view own) const {
  const std::scoped_lock lock(mutex_);
  const std::string plural(catalog::info(kind).plural);
  for (auto at = posted_.lower_bound({plural, std::string(own), {}});
       at != posted_.end() && is_of(at->first, plural, own); ++at) {
    const Proposal& proposal = *at->second.posted.proposal;
    if (!proposal.breaking) continue;
    return proposal.reasons.empty() ? std::string("it changed") : proposal.reasons.front();
  }
  const auto unkept = unkept_.find(plural);
  if (unkept != unkept_.end() && unkept->second.breaking.contains(own))
    return "it changed, and too many proposals wait to say how";
  return std::nullopt;
}

std::string UpstreamPins::id_of(const Proposal& proposal) const {
  constexpr std::size_t kDigits = 16;
  const std::string all =
      fmt::format("{}\n{}\n{}:{}\n{}", upstream_, proposal.kind, proposal.name.size(), proposal.name, proposal.hash);
  return "pin-" + json::hex(json::sha256(all)).substr(0, kDigits);
}

std::vector<PostedProposal> UpstreamPins::posted() const {
  std::vector<PostedProposal> all;
  const std::scoped_lock lock(mutex_);
  for (const auto& [key, one] : posted_) {
    if (!one.rejected) all.push_back(one.posted);
  }
  return all;
}

bool UpstreamPins::is_posted(Kind kind, std::string_view own) const {
  const std::string plural(catalog::info(kind).plural);
  const std::scoped_lock lock(mutex_);
  for (auto at = posted_.lower_bound({plural, std::string(own), {}});
       at != posted_.end() && is_of(at->first, plural, own); ++at) {
    if (!at->second.rejected) return true;
  }
  return false;
}

std::optional<PostedProposal> UpstreamPins::find(std::string_view id) const {
  const std::scoped_lock lock(mutex_);
  const auto known = by_id_.find(id);
  if (known == by_id_.end()) return std::nullopt;
  return posted_.at(known->second).posted;
}

UpstreamPins::Counts UpstreamPins::counts() const {
  const std::scoped_lock lock(mutex_);
  Counts counts{.ratified = pins_->size()};
  for (const auto& [key, one] : posted_) {
    counts.proposals += one.rejected ? 0U : 1U;
    counts.rejected += one.rejected ? 1U : 0U;
    counts.blocked += one.posted.proposal->breaking ? 1U : 0U;
  }
  for (const auto& [kind, unkept] : unkept_) {
    counts.blocked += unkept.breaking.size();
    counts.unkept += unkept.count;
  }
  return counts;
}

}  // namespace proteus::providers
