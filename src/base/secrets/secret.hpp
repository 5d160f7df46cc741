#pragma once

#include <iosfwd>
#include <string>
#include <string_view>
#include <utility>

#include "base/secrets/sealing.hpp"

namespace proteus {

// A token, password or key: a text that cannot be printed, logged or formatted by accident, because it has no formatter
// and no stream operator. Code that needs the text calls `reveal` and does not keep the reference.
class Secret {
 public:
  Secret() = default;
  explicit Secret(std::string text) : text_(std::move(text)) {}
  Secret(const Secret&) = default;
  Secret(Secret&& other) noexcept : text_(std::move(other.text_)) { other.wipe(); }
  Secret& operator=(Secret other) noexcept {
    text_.swap(other.text_);
    return *this;
  }
  // Overwrites the text, so that it does not remain in freed memory.
  ~Secret() { wipe(); }

  bool empty() const { return text_.empty(); }
  const std::string& reveal() const { return text_; }

  // Compares in a time that depends only on the lengths.
  friend bool operator==(const Secret& a, const Secret& b) { return equal_in_constant_time(a.text_, b.text_); }
  friend std::ostream& operator<<(std::ostream&, const Secret&) = delete;

 private:
  // Overwrites all memory of the string: a short text that was moved away is still in it.
  void wipe() noexcept;

  std::string text_;
};

// Returns whether an HTTP header of this name usually carries a credential, judged by the words of the name:
// `Authorization`, `Cookie`, `X-Api-Key`, `X-Auth-Token`. Such a header is never logged or saved.
bool is_secret_header(std::string_view name);

}  // namespace proteus
