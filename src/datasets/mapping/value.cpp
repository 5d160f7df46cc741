#include "datasets/mapping/value.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <fmt/format.h>

#include "base/text/utf8.hpp"
#include "json/text.hpp"

namespace proteus::datasets {
namespace {

bool is_ascii(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

}  // namespace

Text take_text(std::string_view bytes, std::size_t limit, std::size_t whole) {
  Text taken{.whole = std::max(whole, bytes.size())};
  bytes = cut_text(bytes, limit);
  if (is_ascii(bytes)) {
    taken.text = std::string(bytes);
    return taken;
  }
  // Quoting replaces bytes that are not UTF-8.
  taken.text = json::decode_string(json::quote(bytes)).value_or(std::string());
  taken.repaired = taken.text != bytes;
  return taken;
}

void append_number(std::string& out, std::int64_t number) {
  const fmt::format_int written(number);
  out.append(written.data(), written.size());
}

std::string to_text(const Value& value) {
  std::string out;
  append_text(out, value);
  return out;
}

void append_text(std::string& out, const Value& value) {
  struct Writer {
    std::string& out;
    void operator()(std::monostate) const {}
    void operator()(std::int64_t number) const { append_number(out, number); }
    void operator()(double number) const { fmt::format_to(std::back_inserter(out), "{}", number); }
    void operator()(bool flag) const { out += flag ? "true" : "false"; }
    void operator()(const Text& text) const { out += text.text; }
    void operator()(Bytes bytes) const { fmt::format_to(std::back_inserter(out), "{} bytes", bytes.size); }
  };
  std::visit(Writer{out}, value);
}

void append_json(std::string& out, const Value& value) {
  struct Writer {
    std::string& out;
    void operator()(std::monostate) const { out += "null"; }
    void operator()(std::int64_t number) const { append_number(out, number); }
    // JSON has neither infinities nor NaN.
    void operator()(double number) const {
      if (!std::isfinite(number)) return json::append_quoted(out, fmt::to_string(number));
      out += boost::json::serialize(boost::json::value(number));
    }
    void operator()(bool flag) const { out += flag ? "true" : "false"; }
    void operator()(const Text& text) const { json::append_quoted(out, text.text); }
    void operator()(Bytes bytes) const { fmt::format_to(std::back_inserter(out), R"({{"bytes":{}}})", bytes.size); }
  };
  std::visit(Writer{out}, value);
}

}  // namespace proteus::datasets
