#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <proteus/error.hpp>

#include "catalog/definitions/definition_list.hpp"
#include "catalog/definitions/kind.hpp"

// Compares the definitions that a person ratified with those that a provider lists now. No I/O.
namespace proteus::catalog {

// The kind under which a provider's instructions are pinned, with an empty name.
inline constexpr std::string_view kInstructions = "instructions";

// A definition as the provider wrote it, and the hash of its value.
struct Ratified {
  std::string text;
  std::string hash;
};

// All decisions about one provider. A value type. Kinds are named by their plural.
class Pins {
 public:
  // Replaces what was ratified under that name and withdraws a rejection of this hash. Fails if the text does not have
  // that hash or is not a valid definition, so that nothing tampered with is ratified.
  Result<> ratify(std::string kind, std::string name, std::string hash, std::string text);
  void reject(std::string kind, std::string name, std::string hash);

  // Returns null if nothing is ratified under that name.
  const Ratified* find(std::string_view kind, std::string_view name) const;
  bool is_rejected(const std::string& kind, const std::string& name, const std::string& hash) const;
  std::size_t size() const { return ratified_.size(); }

 private:
  // Shared, so that copying Pins copies no texts.
  std::map<std::pair<std::string, std::string>, std::shared_ptr<const Ratified>> ratified_;
  std::set<std::tuple<std::string, std::string, std::string>> rejected_;
};

// An entry that a provider lists and that nobody has ratified.
struct Proposal {
  std::string kind;
  std::string name;  // the provider's own
  std::string hash;
  std::string before;  // the ratified text; empty if there is none
  std::string after;
  bool breaking = false;             // the provider would misread callers that know the ratified text
  std::vector<std::string> reasons;  // in words
  bool rejected = false;             // a person has rejected it, but it is still listed
};

// The result of comparing a list with the decisions. Entries are matched by the provider's own names, so a renamed
// entry is a new one.
struct Judgement {
  std::vector<std::string> served;  // the ratified texts of entries that are still listed
  std::vector<Proposal> proposals;
};
Judgement judge(const Pins& pins, const DefinitionList& listed);
// Compares a provider's instructions with the decisions. `served` has one text, which is empty if nothing is ratified
// or `text` is empty.
Judgement judge_instructions(const Pins& pins, const std::string& text);

// Returns the hash by which a text of this kind is ratified; empty if a definition is not JSON.
std::string pin_hash(std::string_view kind, std::string_view text);

// Returns what changed, in lines that begin with "-", "+" or a space. If `before` is empty, all of `after`.
std::string readable_diff(std::string_view kind, std::string_view before, std::string_view after);

}  // namespace proteus::catalog
