#include "datasets/value.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "json/text.hpp"

namespace proteus::datasets {
namespace {

bool is_ascii(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

bool continues(char c) { return (static_cast<unsigned char>(c) & 0xc0U) == 0x80U; }

}  // namespace

Text take_text(std::string_view bytes, std::size_t limit, std::size_t whole) {
  Text taken{.whole = std::max(whole, bytes.size())};
  if (bytes.size() > limit) {
    std::size_t end = limit;
    for (int back = 0; back < 3 && end > 0 && continues(bytes[end]); ++back)
      --end;
    bytes = bytes.substr(0, end);
  }
  if (is_ascii(bytes)) {
    taken.text = std::string(bytes);
    return taken;
  }
  // Quoting replaces what is no UTF-8.
  taken.text = json::decode_string(json::quote(bytes)).value_or(std::string());
  taken.repaired = taken.text != bytes;
  return taken;
}

std::string to_text(const Value& value) {
  struct Writer {
    std::string operator()(std::monostate) const { return {}; }
    std::string operator()(std::int64_t number) const { return fmt::to_string(number); }
    std::string operator()(double number) const { return fmt::to_string(number); }
    std::string operator()(bool flag) const { return flag ? "true" : "false"; }
    std::string operator()(const Text& text) const { return text.text; }
    std::string operator()(Bytes bytes) const { return fmt::format("{} bytes", bytes.size); }
  };
  return std::visit(Writer{}, value);
}

boost::json::value to_json(const Value& value) {
  struct Writer {
    boost::json::value operator()(std::monostate) const { return nullptr; }
    boost::json::value operator()(std::int64_t number) const { return number; }
    // JSON has neither infinities nor NaN.
    boost::json::value operator()(double number) const {
      if (!std::isfinite(number)) return boost::json::value(fmt::to_string(number));
      return number;
    }
    boost::json::value operator()(bool flag) const { return flag; }
    boost::json::value operator()(const Text& text) const { return boost::json::value(text.text); }
    boost::json::value operator()(Bytes bytes) const { return boost::json::object{{"bytes", bytes.size}}; }
  };
  return std::visit(Writer{}, value);
}

}  // namespace proteus::datasets
