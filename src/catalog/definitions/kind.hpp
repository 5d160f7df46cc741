#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "mcp/method.hpp"

namespace proteus::catalog {

// The kinds of entries that providers list.
enum class Kind : std::uint8_t { tool, prompt, resource, resource_template };

inline constexpr std::array kKinds = {Kind::tool, Kind::prompt, Kind::resource, Kind::resource_template};

struct KindInfo {
  mcp::Method list_method;
  mcp::Method changed_method;  // notifies clients that the list has changed
  std::string_view member;     // of the list's result
  std::string_view key;        // the member that names a definition
  std::string_view plural;     // in our own answers
  std::string_view word;       // in messages
};
const KindInfo& info(Kind kind);

// Whether entries have names. Others have URIs, which get no prefix.
constexpr bool is_named(Kind kind) { return kind == Kind::tool || kind == Kind::prompt; }

constexpr std::size_t index_of(Kind kind) { return static_cast<std::size_t>(kind); }

// One value for each kind.
template <class T>
class PerKind {
 public:
  T& operator[](Kind kind) { return values_[index_of(kind)]; }
  const T& operator[](Kind kind) const { return values_[index_of(kind)]; }
  friend bool operator==(const PerKind&, const PerKind&) = default;

 private:
  std::array<T, kKinds.size()> values_{};
};

class KindSet {
 public:
  KindSet() = default;
  KindSet(std::initializer_list<Kind> kinds) {
    for (const Kind kind : kinds)
      add(kind);
  }

  static KindSet all() {
    KindSet kinds;
    for (const Kind kind : kKinds)
      kinds.add(kind);
    return kinds;
  }

  void add(Kind kind) { bits_ |= bit(kind); }
  void add(KindSet other) { bits_ |= other.bits_; }
  bool has(Kind kind) const { return (bits_ & bit(kind)) != 0; }
  bool empty() const { return bits_ == 0; }
  friend bool operator==(KindSet, KindSet) = default;

 private:
  static unsigned bit(Kind kind) { return 1U << index_of(kind); }
  unsigned bits_ = 0;
};

}  // namespace proteus::catalog
