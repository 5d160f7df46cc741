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

// A proposal that waits for a decision. Its id survives a restart. The proposal is shared, because it may be long.
struct PostedProposal {
  std::string id;
  std::shared_ptr<const catalog::Proposal> proposal;
};

// The decisions about the definitions of one pinned upstream, and the proposals that wait for one. Thread-safe; the
// lock is held for a moment, and only callers of pinned upstreams take it.
class UpstreamPins {
 public:
  // Bounds the proposals of an upstream that shows each caller different lists. What finds no room is counted, and
  // calls of what would be misread are blocked nevertheless.
  static constexpr std::size_t kMostPosted = 100'000;
  static constexpr std::size_t kMostBytes = std::size_t{256} << 20U;

  // Leaves out and logs decisions whose texts do not have their hashes.
  UpstreamPins(std::string upstream, const std::vector<store::PinRecord>& decided, std::size_t most_bytes = kMostBytes);

  // Returns what is served of a list: texts as they were ratified. Posts what is not ratified.
  std::vector<std::string> judge(const catalog::DefinitionList& listed, Reading reading);
  // Like `judge`, for the instructions of the upstream; `instructions` returns what may be served.
  void judge_instructions(const std::string& text);

  // Returns the instructions that clients may see.
  std::string instructions() const;
  // Whether something may be requested by its own name: it is ratified, or is a URI of a ratified template.
  bool admits(catalog::Kind kind, std::string_view own) const;
  // Returns why calls are refused: the definition that is listed now would misread them. Nothing if calls are allowed.
  std::optional<std::string> blocked(catalog::Kind kind, std::string_view own) const;

  std::vector<PostedProposal> posted() const;  // those that nobody has rejected; by kind, then name
  // Whether a proposal of that name is posted and not rejected.
  bool is_posted(catalog::Kind kind, std::string_view own) const;
  std::optional<PostedProposal> find(std::string_view id) const;
  // Whether this decision has been taken already.
  bool has(const store::PinRecord& record) const;
  // Takes a decision. Lists follow it from the next reading on.
  Result<> take(const store::PinRecord& record);

  struct Counts {
    std::size_t ratified = 0;
    std::size_t proposals = 0;
    std::size_t rejected = 0;  // and still listed
    std::size_t blocked = 0;
    std::size_t unkept = 0;  // proposals that found no room when they were listed last
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
  // The proposals of one kind that found no room.
  struct Unkept {
    std::size_t count = 0;
    std::set<std::string, std::less<>> breaking;  // names of ratified definitions
  };

  Posting posting(std::vector<catalog::Proposal> proposals) const;
  // Returns the replaced proposals, which may take long to destroy, so that the caller does that without the lock.
  Posting post(Posting proposals, std::string_view kind, Reading reading);
  // Moves a posted proposal into `removed`, and returns the next one.
  Posting::iterator remove(Posting::iterator posted, Posting& removed);
  // Stops blocking calls because of a change that found no room.
  void forget_unkept(std::string_view kind, std::string_view own);
  Result<> decide(catalog::Pins& pins, const store::PinRecord& record);
  std::string id_of(const catalog::Proposal& proposal) const;

  const std::string upstream_;
  const std::size_t most_bytes_;
  mutable std::mutex mutex_;
  std::shared_ptr<const catalog::Pins> pins_;         // replaced as a whole
  std::map<std::string, mcp::UriPattern> templates_;  // the ratified ones, by name
  Posting posted_;
  std::size_t posted_bytes_ = 0;
  std::map<std::string, Unkept, std::less<>> unkept_;  // by kind
  std::map<std::string, Key, std::less<>> by_id_;      // the posted ones
  std::string instructions_;
};

}  // namespace proteus::providers
