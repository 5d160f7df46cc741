#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/clock.hpp"
#include "base/sealing.hpp"
#include "gateway/sign_in/person.hpp"

namespace proteus::gateway {

// Somebody's browser, as its cookie says, and who was found to sit in front of it.
struct Browser {
  std::string id;
  std::optional<Person> person = {};  // nothing as long as nobody has proved who they are
  std::string name = {};              // theirs, for people
  Clock::Wall until{};

  bool is(const Person& other) const { return person == other; }
};

// The cookie of the connect pages, which is all that is kept of a browser: sealed, for the browser alone and never for
// scripts. With https its name has the `__Host-` prefix, so that no other host can set it; browsers take that prefix
// only from https, so that a gateway on plain loopback has another name and no `Secure`.
class Browsers {
 public:
  static constexpr std::chrono::minutes kLifetime{15};

  enum class Scheme : std::uint8_t { http, https };
  // The clock outlives it. The scheme is that of our public URL, which is not known before we listen.
  Browsers(SealingKey key, const Clock& clock, std::function<Scheme()> scheme)
      : key_(key), clock_(clock), scheme_(std::move(scheme)) {}

  // The one that sends this Cookie field; nothing where it has none of ours, or more than one.
  std::optional<Browser> find(std::string_view cookies) const;
  // One that is not known yet; or after somebody has proved who they are, so that a cookie from before is worth
  // nothing.
  Browser begin(std::optional<Person> person = {}, std::string name = {}) const;
  // The value of a Set-Cookie field.
  std::string cookie(const Browser& browser) const;

  // What a form carries so that no other site can post it. `purpose` says which form of which ticket.
  std::string form_token(const Browser& browser, std::string_view purpose) const;
  bool is_own_form(const Browser& browser, std::string_view purpose, std::string_view token) const;

 private:
  std::string_view name() const;

  const SealingKey key_;
  const Clock& clock_;
  const std::function<Scheme()> scheme_;
};

}  // namespace proteus::gateway
