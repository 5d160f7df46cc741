#include "providers/upstream_pins.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/log.hpp"
#include "json/canonical.hpp"

namespace proteus::providers {

using catalog::Kind;
using catalog::Proposal;

UpstreamPins::UpstreamPins(std::string upstream, const std::vector<store::PinRecord>& decided)
    : upstream_(std::move(upstream)) {
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
  const std::scoped_lock lock(mutex_);
  catalog::Pins pins = *pins_;
  if (auto taken = decide(pins, record); !taken) return taken;
  pins_ = std::make_shared<const catalog::Pins>(std::move(pins));
  const auto posted = posted_.find({record.kind, record.name, record.hash});
  if (posted == posted_.end()) return {};
  if (record.verdict == store::Verdict::rejected) {
    posted->second.rejected = true;
  } else {
    posted_.erase(posted);
  }
  return {};
}

bool UpstreamPins::has(const store::PinRecord& record) const {
  const std::scoped_lock lock(mutex_);
  if (record.verdict == store::Verdict::rejected) return pins_->is_rejected(record.kind, record.name, record.hash);
  const auto* const ratified = pins_->find(record.kind, record.name);
  return ratified != nullptr && ratified->hash == record.hash;
}

void UpstreamPins::post(std::vector<Proposal> proposals, std::string_view kind, Reading reading) {
  if (reading == Reading::whole) std::erase_if(posted_, [&](const auto& entry) { return entry.second.kind == kind; });
  for (auto& proposal : proposals) {
    if (posted_.size() >= kMostPosted) return;
    posted_.insert_or_assign({proposal.kind, proposal.name, proposal.hash}, std::move(proposal));
  }
}

std::vector<std::string> UpstreamPins::judge(const catalog::DefinitionList& listed, Reading reading) {
  std::shared_ptr<const catalog::Pins> pins;
  {
    const std::scoped_lock lock(mutex_);
    pins = pins_;
  }
  auto judgement = catalog::judge(*pins, listed);
  const std::scoped_lock lock(mutex_);
  const std::string_view kind = catalog::info(listed.kind()).plural;
  if (reading == Reading::part) {
    // What this caller sees as it was ratified misreads nothing any more.
    for (const auto& definition : listed.definitions()) {
      const auto* ratified = pins_->find(kind, definition.own);
      if (ratified == nullptr || ratified->hash != json::hex(definition.hash)) continue;
      for (auto at = posted_.lower_bound({std::string(kind), std::string(definition.own), {}});
           at != posted_.end() && at->second.kind == kind && at->second.name == definition.own;) {
        at = at->second.breaking ? posted_.erase(at) : std::next(at);
      }
    }
  }
  post(std::move(judgement.proposals), kind, reading);
  return std::move(judgement.served);
}

void UpstreamPins::judge_instructions(const std::string& text) {
  const std::scoped_lock lock(mutex_);
  auto judgement = catalog::judge_instructions(*pins_, text);
  instructions_ = std::move(judgement.served.front());
  post(std::move(judgement.proposals), catalog::kInstructions, Reading::whole);
}

std::string UpstreamPins::instructions() const {
  const std::scoped_lock lock(mutex_);
  return instructions_;
}

bool UpstreamPins::admits(Kind kind, std::string_view own) const {
  if (own.size() > catalog::kLongestUri) return false;
  const std::scoped_lock lock(mutex_);
  if (pins_->find(catalog::info(kind).plural, own) != nullptr) return true;
  // A URI may be of a template, and a reference to a template may be spelled as one of a resource.
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
       at != posted_.end() && at->second.kind == plural && at->second.name == own; ++at) {
    if (!at->second.breaking) continue;
    return at->second.reasons.empty() ? std::string("it changed") : at->second.reasons.front();
  }
  return std::nullopt;
}

std::string UpstreamPins::id_of(const Proposal& proposal) const {
  constexpr std::size_t kDigits = 16;
  const std::string all =
      fmt::format("{}\n{}\n{}:{}\n{}", upstream_, proposal.kind, proposal.name.size(), proposal.name, proposal.hash);
  return "pin-" + json::hex(json::sha256(all)).substr(0, kDigits);
}

// One at a time under the lock, which calls need as well: proposals are long.
std::vector<PostedProposal> UpstreamPins::posted() const {
  std::vector<Key> keys;
  {
    const std::scoped_lock lock(mutex_);
    for (const auto& [key, proposal] : posted_)
      keys.push_back(key);
  }
  std::vector<PostedProposal> all;
  for (const Key& key : keys) {
    const std::scoped_lock lock(mutex_);
    const auto found = posted_.find(key);
    if (found != posted_.end() && !found->second.rejected) all.push_back({id_of(found->second), found->second});
  }
  return all;
}

std::optional<PostedProposal> UpstreamPins::find(std::string_view id) const {
  const std::scoped_lock lock(mutex_);
  for (const auto& [key, proposal] : posted_) {
    if (id_of(proposal) == id) return PostedProposal{std::string(id), proposal};
  }
  return std::nullopt;
}

UpstreamPins::Counts UpstreamPins::counts() const {
  const std::scoped_lock lock(mutex_);
  Counts counts{.ratified = pins_->size()};
  for (const auto& [key, proposal] : posted_) {
    counts.proposals += proposal.rejected ? 0U : 1U;
    counts.rejected += proposal.rejected ? 1U : 0U;
    counts.blocked += proposal.breaking ? 1U : 0U;
  }
  return counts;
}

}  // namespace proteus::providers
