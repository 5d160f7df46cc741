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

// Definitions that a person ratified, held against those a provider lists now. No I/O.
namespace proteus::catalog {

// What a provider says of itself is pinned like a definition, under this kind and without a name.
inline constexpr std::string_view kInstructions = "instructions";

// A definition as the provider wrote it, and the hash of its value.
struct Ratified {
  std::string text;
  std::string hash;
};

// The decisions about one provider. A value. Kinds are called by their plural.
class Pins {
 public:
  // Takes the place of what was ratified by that name. Fails where the text does not have that hash, or is no
  // definition: what was tampered with is not ratified.
  Result<> ratify(std::string kind, std::string name, std::string hash, std::string text);
  void reject(std::string kind, std::string name, std::string hash);

  // Null where nothing of that name is ratified.
  const Ratified* find(std::string_view kind, std::string_view name) const;
  bool is_rejected(const std::string& kind, const std::string& name, const std::string& hash) const;
  std::size_t size() const { return ratified_.size(); }

 private:
  // Shared, so that a copy costs no texts.
  std::map<std::pair<std::string, std::string>, std::shared_ptr<const Ratified>> ratified_;
  std::set<std::tuple<std::string, std::string, std::string>> rejected_;
};

// What a provider lists and nobody has ratified.
struct Proposal {
  std::string kind;
  std::string name;  // the provider's own
  std::string hash;
  std::string before;  // what is ratified; empty where nothing is
  std::string after;
  bool breaking = false;             // callers that know what is ratified would be misread
  std::vector<std::string> reasons;  // in words
  bool rejected = false;             // a person has decided against it, and it is still listed
};

// What becomes of a list. Matching is by the provider's own names: what is renamed is something else.
struct Judgement {
  std::vector<std::string> served;  // texts, as they were ratified, of what is still listed
  std::vector<Proposal> proposals;
};
Judgement judge(const Pins& pins, const DefinitionList& listed);
// The same for a text that is no definition; what is served of it is empty where nothing is ratified.
Judgement judge_instructions(const Pins& pins, const std::string& text);

// The hash that a text of this kind is ratified by.
std::string pin_hash(std::string_view kind, std::string_view text);

// What changed, in lines that begin with "-", "+" or a space; for what is new, all of it.
std::string readable_diff(std::string_view kind, std::string_view before, std::string_view after);

}  // namespace proteus::catalog
