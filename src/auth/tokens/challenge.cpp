#include "auth/tokens/challenge.hpp"

#include <algorithm>
#include <optional>

#include "base/text/ascii.hpp"
#include "net/http/fields.hpp"
#include "net/http/token.hpp"

namespace proteus::auth {
namespace {

// RFC 6750, section 3, and RFC 6749, section 3.3: visible ASCII and spaces, without quotes and backslashes.
bool may_be_quoted(char c) { return c >= 0x20 && c < 0x7f && c != '"' && c != '\\'; }

void append_parameter(std::string& out, std::string_view name, std::string_view value) {
  if (value.empty()) return;
  out += out.ends_with(' ') ? "" : ", ";
  out += name;
  out += "=\"";
  std::ranges::copy_if(value, std::back_inserter(out), may_be_quoted);
  out.push_back('"');
}

std::string joined(std::span<const std::string> scopes) {
  std::string out;
  for (const std::string& scope : scopes) {
    if (scope == "offline_access") continue;
    if (!out.empty()) out.push_back(' ');
    out += scope;
  }
  return out;
}

void append_challenge(std::string& out, std::string_view scheme, const ChallengeText& challenge) {
  out += scheme;
  out.push_back(' ');
  append_parameter(out, "error", challenge.error);
  append_parameter(out, "error_description", challenge.description);
  append_parameter(out, "scope", joined(challenge.scopes));
  append_parameter(out, "resource_metadata", challenge.resource_metadata);
}

void end_challenge(std::string& out) {
  if (out.ends_with(' ')) out.pop_back();
}

// Reads a field from left to right; each `take` steps over what it matches.
class FieldReader {
 public:
  explicit FieldReader(std::string_view text) : rest_(text) {}

  bool done() const { return rest_.empty(); }
  void skip_blanks() {
    while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\t'))
      rest_.remove_prefix(1);
  }
  void skip_commas() {
    while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\t' || rest_.front() == ','))
      rest_.remove_prefix(1);
  }
  bool take(char c) {
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  std::string_view take_token() {
    const auto end = std::ranges::find_if_not(rest_, net::is_token_character);
    const std::string_view token = rest_.substr(0, static_cast<std::size_t>(end - rest_.begin()));
    rest_.remove_prefix(token.size());
    return token;
  }
  std::optional<std::string> take_value() {
    if (!take('"')) {
      const std::string_view token = take_token();
      return token.empty() ? std::nullopt : std::optional<std::string>(token);
    }
    std::string value;
    while (!rest_.empty()) {
      const char c = rest_.front();
      rest_.remove_prefix(1);
      if (c == '"') return value;
      if (c == '\\') {
        if (rest_.empty()) return std::nullopt;
        value.push_back(rest_.front());
        rest_.remove_prefix(1);
      } else {
        value.push_back(c);
      }
    }
    return std::nullopt;
  }
  // Takes "name=" of a parameter. Returns and skips nothing if something else follows, such as the next scheme.
  std::optional<std::string_view> take_name() {
    const FieldReader before = *this;
    const std::string_view name = take_token();
    skip_blanks();
    if (!name.empty() && take('=')) {
      skip_blanks();
      // If no value begins here, the equals sign was the padding of a token68, which is not a parameter.
      if (!rest_.empty() && rest_.front() != '=' && rest_.front() != ',') return name;
    }
    *this = before;
    return std::nullopt;
  }
  // Takes what some schemes have instead of parameters (RFC 9110, section 11.2).
  bool take_token68() {
    const FieldReader before = *this;
    const auto is_of_it = [](char c) { return net::is_token_character(c) || c == '/' || c == '='; };
    const auto end = std::ranges::find_if_not(rest_, is_of_it);
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.begin()));
    skip_blanks();
    if (done() || rest_.front() == ',') return true;
    *this = before;
    return false;
  }

 private:
  std::string_view rest_;
};

constexpr std::size_t kMaxParameters = 64;  // of a challenge

// Returns false if the rest of the field cannot be read.
bool read_parameters(FieldReader& reader, Challenge& challenge) {
  for (bool is_first = true;; is_first = false) {
    const FieldReader before = reader;
    if (!is_first) reader.skip_commas();
    const auto name = reader.take_name();
    if (!name) {
      reader = before;
      return !is_first || reader.done() || reader.take_token68();
    }
    auto value = reader.take_value();
    if (!value || challenge.parameters.size() == kMaxParameters) return false;
    std::string lower = lower_case(*name);
    if (challenge.find(lower).empty()) challenge.parameters.emplace_back(std::move(lower), std::move(*value));
    reader.skip_blanks();
  }
}

}  // namespace

std::string write_challenge(const ChallengeText& challenge) {
  std::string out;
  append_challenge(out, "Bearer", challenge);
  end_challenge(out);
  if (challenge.dpop_algorithms.empty()) return out;
  out += ", ";
  append_challenge(out, "DPoP", challenge);
  std::string names;
  for (const Algorithm algorithm : challenge.dpop_algorithms) {
    if (!names.empty()) names.push_back(' ');
    names += to_string(algorithm);
  }
  append_parameter(out, "algs", names);
  return out;
}

bool Challenge::is(std::string_view name) const { return net::same_field_name(scheme, name); }

std::string_view Challenge::find(std::string_view parameter) const {
  for (const auto& [name, value] : parameters) {
    if (name == parameter) return value;
  }
  return {};
}

std::vector<Challenge> read_challenges(std::string_view field) {
  constexpr std::size_t kMaxChallenges = 32;
  std::vector<Challenge> challenges;
  if (field.size() > kMaxChallengeBytes) return challenges;
  FieldReader reader(field);
  for (reader.skip_commas(); !reader.done() && challenges.size() < kMaxChallenges; reader.skip_commas()) {
    const std::string_view scheme = reader.take_token();
    if (scheme.empty()) break;
    challenges.push_back({.scheme = std::string(scheme)});
    reader.skip_blanks();
    if (!read_parameters(reader, challenges.back())) break;
  }
  return challenges;
}

}  // namespace proteus::auth
