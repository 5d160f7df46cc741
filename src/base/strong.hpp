#pragma once

#include <compare>
#include <cstddef>
#include <functional>
#include <string>
#include <utility>

namespace proteus {

// A value whose type cannot be confused with another type of the same representation:
//   using SessionId = Strong<std::string, struct SessionIdTag>;
template <class T, class Tag>
class Strong {
 public:
  Strong() = default;
  explicit Strong(T value) : value_(std::move(value)) {}

  const T& value() const { return value_; }

  friend auto operator<=>(const Strong&, const Strong&) = default;

 private:
  T value_{};
};

}  // namespace proteus

template <class T, class Tag>
struct std::hash<proteus::Strong<T, Tag>> {
  std::size_t operator()(const proteus::Strong<T, Tag>& strong) const { return std::hash<T>{}(strong.value()); }
};
