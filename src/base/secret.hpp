#pragma once

#include <iosfwd>
#include <string>
#include <utility>

#include "base/sealing.hpp"

namespace proteus {

// A token, a password, a key: a text that cannot be printed, logged or formatted by accident, because there is no
// formatter and no stream operator for it. Whoever needs the text says so with `reveal`, and does not keep the view.
class Secret {
 public:
  Secret() = default;
  explicit Secret(std::string text) : text_(std::move(text)) {}
  Secret(const Secret&) = default;
  Secret(Secret&& other) noexcept : text_(std::exchange(other.text_, {})) {}
  Secret& operator=(Secret other) noexcept {
    text_.swap(other.text_);
    return *this;
  }
  // Overwrites the text, so that it does not stay behind in freed memory.
  ~Secret();

  bool empty() const { return text_.empty(); }
  const std::string& reveal() const { return text_; }

  // In a time that depends on the lengths only.
  friend bool operator==(const Secret& a, const Secret& b) { return equal_in_constant_time(a.text_, b.text_); }
  friend std::ostream& operator<<(std::ostream&, const Secret&) = delete;

 private:
  std::string text_;
};

}  // namespace proteus
