#include "catalog/pins/pins.hpp"

#include <fmt/format.h>

#include "catalog/definitions/definition_check.hpp"
#include "catalog/pins/change.hpp"
#include "json/canonical.hpp"
#include "json/text.hpp"

namespace proteus::catalog {
namespace {

Result<> check_text(std::string_view kind, std::string_view text) {
  if (kind == kInstructions) return {};
  for (const Kind each : kKinds) {
    if (info(each).plural != kind) continue;
    const auto value = json::parse(text);
    if (!value) return std::unexpected(value.error());
    if (!value->is_object()) return std::unexpected(errors::invalid("it is not an object"));
    const auto checked = check_definition(each, *value, Tasks::spoken);
    if (!checked) return std::unexpected(checked.error());
    return {};
  }
  return std::unexpected(errors::invalid("it is of no known kind"));
}

}  // namespace

std::string pin_hash(std::string_view kind, std::string_view text) {
  if (kind == kInstructions) return json::hex(json::sha256(text));
  const auto hash = json::canonical_hash(text);
  return hash ? json::hex(*hash) : std::string();
}

Result<> Pins::ratify(std::string kind, std::string name, std::string hash, std::string text) {
  if (hash.empty() || pin_hash(kind, text) != hash) {
    return std::unexpected(errors::invalid("its text does not have the hash that was ratified"));
  }
  if (auto checked = check_text(kind, text); !checked) return checked;
  rejected_.erase({kind, name, hash});
  ratified_.insert_or_assign({std::move(kind), std::move(name)},
                             std::make_shared<const Ratified>(std::move(text), std::move(hash)));
  return {};
}

void Pins::reject(std::string kind, std::string name, std::string hash) {
  rejected_.emplace(std::move(kind), std::move(name), std::move(hash));
}

const Ratified* Pins::find(std::string_view kind, std::string_view name) const {
  const auto found = ratified_.find(std::pair(std::string(kind), std::string(name)));
  return found == ratified_.end() ? nullptr : found->second.get();
}

bool Pins::is_rejected(const std::string& kind, const std::string& name, const std::string& hash) const {
  return rejected_.contains({kind, name, hash});
}

Judgement judge(const Pins& pins, const DefinitionList& listed) {
  Judgement judgement;
  const std::string kind(info(listed.kind()).plural);
  judgement.served.reserve(listed.size());
  for (const Definition& definition : listed.definitions()) {
    const Ratified* const ratified = pins.find(kind, definition.own);
    if (ratified != nullptr) judgement.served.push_back(ratified->text);
    std::string hash = json::hex(definition.hash);
    if (ratified != nullptr && ratified->hash == hash) continue;
    Proposal proposal{.kind = kind,
                      .name = std::string(definition.own),
                      .hash = std::move(hash),
                      .before = ratified != nullptr ? ratified->text : std::string(),
                      .after = original_text(listed.kind(), definition),
                      .reasons = {}};
    proposal.rejected = pins.is_rejected(kind, proposal.name, proposal.hash);
    if (ratified != nullptr) {
      Definition before = definition;
      Definition after = definition;
      before.text = proposal.before;
      after.text = proposal.after;
      auto changed = compare(listed.kind(), before, after);
      proposal.breaking = changed.compatibility == Compatibility::breaking;
      proposal.reasons = std::move(changed.reasons);
    }
    judgement.proposals.push_back(std::move(proposal));
  }
  return judgement;
}

Judgement judge_instructions(const Pins& pins, const std::string& text) {
  Judgement judgement;
  const std::string kind(kInstructions);
  const Ratified* const ratified = pins.find(kind, "");
  judgement.served.push_back(ratified != nullptr && !text.empty() ? ratified->text : std::string());
  std::string hash = pin_hash(kind, text);
  if (text.empty() || (ratified != nullptr && ratified->hash == hash)) return judgement;
  Proposal proposal{.kind = kind,
                    .name = {},
                    .hash = std::move(hash),
                    .before = ratified != nullptr ? ratified->text : std::string(),
                    .after = text,
                    .reasons = {}};
  proposal.rejected = pins.is_rejected(kind, {}, proposal.hash);
  judgement.proposals.push_back(std::move(proposal));
  return judgement;
}

}  // namespace proteus::catalog
