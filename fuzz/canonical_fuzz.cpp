// Fuzzes canonical JSON: a canonical form is JSON of the same value, and is its own canonical form. Any bytes can be
// quoted.
#include <cstdint>
#include <string>

#include <simdjson.h>

#include "check.hpp"
#include "json/canonical.hpp"
#include "json/message.hpp"
#include "json/text.hpp"

namespace {

using proteus::fuzz::boost_opinion;
using proteus::fuzz::check;
namespace json = proteus::json;

void check_quoting(std::string_view text) {
  const std::string quoted = json::quote(text);
  check(boost_opinion(quoted).value.has_value(), "what is quoted is JSON");
  const auto decoded = json::decode_string(quoted);
  check(decoded.has_value(), "what is quoted can be read");
  if (simdjson::validate_utf8(text.data(), text.size()))
    check(*decoded == text, "what is quoted reads back as the same");
}

// Returns the value with all numbers as double. A tree holds integers exactly and other numbers rounded, but a
// canonical form writes many of the others as integers.
boost::json::value rounded(boost::json::value value) {
  if (value.is_int64() || value.is_uint64()) return value.to_number<double>();
  if (value.is_array()) {
    for (auto& element : value.get_array())
      element = rounded(std::move(element));
  } else if (value.is_object()) {
    for (auto& member : value.get_object())
      member.value() = rounded(std::move(member.value()));
  }
  return value;
}

// A longer text may have more members than a tree may.
constexpr std::size_t kLongest = 20'000;

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = proteus::fuzz::as_text(data, size);
  if (size > kLongest) return 0;
  check_quoting(text);

  const auto value = json::parse(text);
  const auto opinion = boost_opinion(text);
  check(!value || opinion.value, "what is parsed is JSON for others");
  check(json::parses(text) == value.has_value(), "a text is judged the same without a tree");
  if (!value) {
    const bool twice = value.error().message() == "an object has a key twice";
    check(twice || !opinion.value, "what is refused is not JSON for others, unless a key comes twice");
    return 0;
  }
  const std::string once = json::canonical(*value);
  const auto again = json::parse(once);
  check(again.has_value(), "a canonical form is JSON");
  check(json::canonical(*again) == once, "a canonical form is its own");
  const auto exact = json::canonical_text(text);
  check(exact && json::parse(*exact), "an exact canonical form is JSON");
  check(json::canonical_text(*exact) == *exact, "an exact canonical form is its own");
  check(json::canonical(rounded(*json::parse(*exact))) == json::canonical(rounded(*value)),
        "an exact canonical form is of the same value");
  check(json::canonical_hash(text) && *json::canonical_hash(text) == *json::canonical_hash(*exact),
        "the same value has the same hash");
  return 0;
}
