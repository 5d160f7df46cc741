#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/clock.hpp"
#include "base/secrets/sealing.hpp"
#include "gateway/sign_in/person.hpp"

namespace proteus::gateway {

// A browser as its cookie describes it, and the person who was identified in it.
struct Browser {
  std::string id;
  std::optional<Person> person = {};  // nothing until somebody has been identified
  std::string name = {};              // of the person, for display
  Clock::Wall until{};

  bool is(const Person& other) const { return person == other; }
};

// The cookie of the connect pages, which is all state that there is of a browser: sealed and HttpOnly. With https its
// name has the `__Host-` prefix, so that no other host can set it. Browsers accept that prefix only from https, so
// without https the cookie has another name and no `Secure`.
class Browsers {
 public:
  static constexpr std::chrono::minutes kLifetime{15};

  enum class Scheme : std::uint8_t { http, https };
  // The clock must outlive this object. `scheme` returns the scheme of our public URL, which is unknown until we
  // listen.
  Browsers(SealingKey key, const Clock& clock, std::function<Scheme()> scheme)
      : key_(key), clock_(clock), scheme_(std::move(scheme)) {}

  // Returns the browser that sent this Cookie field; nothing if the field has no valid cookie of ours, or more than
  // one.
  std::optional<Browser> find(std::string_view cookies) const;
  // Makes a browser with a new id: for a browser that is not known yet, and after a person has been identified, so that
  // a cookie from before is useless.
  Browser begin(std::optional<Person> person = {}, std::string name = {}) const;
  // Returns the value of a Set-Cookie field.
  std::string cookie(const Browser& browser) const;

  // Returns a token for a form, without which no other site can post the form. `purpose` names the form and its ticket.
  std::string form_token(const Browser& browser, std::string_view purpose) const;
  bool is_own_form(const Browser& browser, std::string_view purpose, std::string_view token) const;

 private:
  std::string_view name() const;

  const SealingKey key_;
  const Clock& clock_;
  const std::function<Scheme()> scheme_;
};

}  // namespace proteus::gateway
