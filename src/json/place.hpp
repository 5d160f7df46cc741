#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// Faults of a document and their places.
namespace proteus::json {

struct Fault {
  std::string pointer;  // RFC 6901: "/upstreams/0/url"; empty for the document itself
  std::string path;     // the pointer in a form for people: "upstreams[0].url"
  std::string message;

  friend bool operator==(const Fault&, const Fault&) = default;
};

// The faults of a document. Ignores more than `kMax` faults: nobody reads that many.
class Faults {
 public:
  static constexpr std::size_t kMax = 1000;

  void add(Fault fault) {
    if (!full()) all_.push_back(std::move(fault));
  }
  bool empty() const { return all_.empty(); }
  bool full() const { return all_.size() >= kMax; }
  const std::vector<Fault>& all() const { return all_; }

 private:
  std::vector<Fault> all_;
};

// Whether a document may contain secrets, or only the names of environment variables that hold them.
enum class Secrets : std::uint8_t { refused, accepted };

// The place of a value in the document that is being read. Allocates nothing until there is a fault. The place of a
// member or an item refers to its parent place and to its key; both must outlive it.
class Place {
 public:
  explicit Place(Faults& faults, Secrets secrets = Secrets::refused) : faults_(&faults), secrets_(secrets) {}

  Place member(std::string_view key) const;
  Place item(std::size_t index) const;

  Secrets secrets() const { return secrets_; }
  Faults& faults() const { return *faults_; }
  void fault(std::string message) const;

  std::string pointer() const;
  std::string path() const;

 private:
  enum class Step : std::uint8_t { none, member, item };

  const Place* up_ = nullptr;
  Faults* faults_;
  std::string_view key_;
  std::size_t index_ = 0;
  Step step_ = Step::none;
  Secrets secrets_;
};

}  // namespace proteus::json
