#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/pins/pins.hpp"
#include "mcp/uri_pattern.hpp"
#include "store/records.hpp"

namespace proteus::providers {

// Whether a list is all there is of its kind, or what one caller was shown.
enum class Reading : std::uint8_t { whole, part };

// A proposal that waits for a decision, by an id that is the same after a restart. Shared, because it may be long.
struct PostedProposal {
  std::string id;
  std::shared_ptr<const catalog::Proposal> proposal;
};

// What was decided about the definitions of one pinned upstream, and what waits to be. Thread-safe; its lock is held
// for a moment, and only callers of pinned upstreams take it.
class UpstreamPins {
 public:
  // Whoever has callers see lists of their own could post without end.
  static constexpr std::size_t kMostPosted = 100'000;

  // Decisions whose texts do not have their hashes are left out, and said so in the log.
  UpstreamPins(std::string upstream, const std::vector<store::PinRecord>& decided);

  // What is served of a list: texts as they were ratified. What is not ratified is posted.
  std::vector<std::string> judge(const catalog::DefinitionList& listed, Reading reading);
  // The same for what the upstream says of itself; kept for `instructions`.
  void judge_instructions(const std::string& text);

  // The part of what it says of itself that may be told.
  std::string instructions() const;
  // Whether something may be asked for by its own name: it is ratified, or a URI of a template that is.
  bool admits(catalog::Kind kind, std::string_view own) const;
  // Why calls of it are not passed on: what is listed now would misread them.
  std::optional<std::string> blocked(catalog::Kind kind, std::string_view own) const;

  std::vector<PostedProposal> posted() const;  // that nobody has rejected; by kind, then name
  // Whether one of that name is.
  bool is_posted(catalog::Kind kind, std::string_view own) const;
  std::optional<PostedProposal> find(std::string_view id) const;
  // Whether it was decided so.
  bool has(const store::PinRecord& record) const;
  // Holds from the next reading on.
  Result<> take(const store::PinRecord& record);

  struct Counts {
    std::size_t ratified = 0;
    std::size_t proposals = 0;
    std::size_t rejected = 0;  // and still listed
    std::size_t blocked = 0;
    friend bool operator==(const Counts&, const Counts&) = default;
  };
  Counts counts() const;

 private:
  using Key = std::tuple<std::string, std::string, std::string>;  // kind, name, hash

  struct Posted {
    PostedProposal posted;
    bool rejected = false;  // and still listed
  };
  using Posting = std::map<Key, Posted>;

  Posting posting(std::vector<catalog::Proposal> proposals) const;
  // Gives what they replace, which may take long to end: not under the lock.
  Posting post(Posting proposals, std::string_view kind, Reading reading);
  Result<> decide(catalog::Pins& pins, const store::PinRecord& record);
  std::string id_of(const catalog::Proposal& proposal) const;

  const std::string upstream_;
  mutable std::mutex mutex_;
  std::shared_ptr<const catalog::Pins> pins_;         // replaced as a whole
  std::map<std::string, mcp::UriPattern> templates_;  // of those ratified, by name
  Posting posted_;
  std::map<std::string, Key, std::less<>> by_id_;  // of those posted
  std::string instructions_;
};

}  // namespace proteus::providers
