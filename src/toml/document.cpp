#include "toml/document.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <sstream>

#include <boost/json/array.hpp>
#include <fmt/format.h>
#include <toml++/toml.h>

#include "base/log/log.hpp"
#include "json/schema/json_pointer.hpp"

namespace proteus::toml {
namespace {

using json::Place;

Position position_of(const ::toml::source_region& region) { return {region.begin.line, region.begin.column}; }

// Finds dotted keys with too many parts before toml++ reads the text: toml++ accepts any number of parts, and later
// recurses into the tables that they make. A key is on one line, and its separating dots are outside strings.
class DottedKeys {
 public:
  explicit DottedKeys(std::string_view text) : text_(text) {}

  // Returns the position of a key with too many parts.
  std::optional<Position> find_too_long() {
    std::size_t dots = 0;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '"' || c == '\'') {
        skip_string(c);
        continue;
      }
      if (c == '#') {
        while (at_ < text_.size() && text_[at_] != '\n')
          ++at_;
        continue;
      }
      if (c == '.') {
        if (++dots >= Document::kMaxKeyParts) return position();
      } else if (!is_part_of_key(c)) {
        dots = 0;
      }
      ++at_;
    }
    return std::nullopt;
  }

 private:
  static bool is_part_of_key(char c) {
    return c == ' ' || c == '\t' || c == '_' || c == '-' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
           (c >= 'A' && c <= 'Z') || static_cast<unsigned char>(c) >= 0x80;
  }

  void skip_string(char quote) {
    const std::string fence(3, quote);
    const bool multiline = text_.substr(at_).starts_with(fence);
    at_ += multiline ? 3 : 1;
    while (at_ < text_.size()) {
      if (quote == '"' && text_[at_] == '\\') {
        at_ += 2;
      } else if (multiline && text_.substr(at_).starts_with(fence)) {
        at_ += 3;
        return;
      } else if (!multiline && (text_[at_] == quote || text_[at_] == '\n')) {
        ++at_;
        return;
      } else {
        ++at_;
      }
    }
  }

  Position position() const {
    const std::string_view before = text_.substr(0, at_);
    const auto line_begin = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
    return {static_cast<std::uint32_t>(std::ranges::count(before, '\n') + 1),
            static_cast<std::uint32_t>(at_ - line_begin + 1)};
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

// Returns nothing for a value that is not allowed in a configuration.
std::optional<boost::json::value> convert(const ::toml::node& node, const Place& place, std::size_t depth) {
  if (depth > Document::kMaxDepth) {
    place.fault("is nested too deep");
    return std::nullopt;
  }
  if (const auto* table = node.as_table()) {
    boost::json::object out;
    out.reserve(table->size());
    for (const auto& [key, value] : *table) {
      if (auto converted = convert(value, place.member(key.str()), depth + 1))
        out.emplace(key.str(), std::move(*converted));
    }
    return out;
  }
  if (const auto* array = node.as_array()) {
    boost::json::array out;
    out.reserve(array->size());
    for (std::size_t i = 0; i < array->size(); ++i) {
      // Null keeps the indexes of the other items.
      auto converted = convert(*array->get(i), place.item(i), depth + 1);
      out.push_back(converted ? std::move(*converted) : boost::json::value());
    }
    return out;
  }
  if (const auto* text = node.as_string()) return boost::json::value(text->get());
  if (const auto* integer = node.as_integer()) return boost::json::value(integer->get());
  if (const auto* number = node.as_floating_point()) {
    if (std::isfinite(number->get())) return boost::json::value(number->get());
    place.fault("is not a finite number, and JSON has no other");
    return std::nullopt;
  }
  if (const auto* flag = node.as_boolean()) return boost::json::value(flag->get());
  if (const auto* time = node.as_date_time(); time != nullptr && time->get().offset) {
    std::ostringstream text;
    text << time->get();
    return boost::json::value(text.str());
  }
  place.fault("is a date or a time without an offset, for which no key has a use");
  return std::nullopt;
}

}  // namespace

struct Document::Content {
  ::toml::table table;
  boost::json::value root;
  json::Faults faults;
};

std::expected<Document, Document::SyntaxFault> Document::parse(std::string_view text) {
  if (text.size() > kMaxBytes)
    return std::unexpected(SyntaxFault{{}, fmt::format("the file is over the limit of {} bytes", kMaxBytes)});
  if (const auto deep = DottedKeys(text).find_too_long())
    return std::unexpected(SyntaxFault{*deep, fmt::format("the key has more than {} parts", kMaxKeyParts)});
  auto content = std::make_shared<Content>();
  try {
    content->table = ::toml::parse(text);
  } catch (const ::toml::parse_error& error) {
    return std::unexpected(
        SyntaxFault{position_of(error.source()), log::printable(error.description(), std::string_view::npos)});
  }
  const Place place(content->faults);
  content->root = std::move(*convert(content->table, place, 0));
  return Document(std::move(content));
}

const boost::json::value& Document::root() const { return content_->root; }

const std::vector<json::Fault>& Document::faults() const { return content_->faults.all(); }

Position Document::locate(std::string_view pointer) const {
  const ::toml::node* node = &content_->table;
  Position position;
  while (!pointer.empty()) {
    const auto token = json::schema::take_pointer_token(pointer);
    if (!token) break;
    if (const auto* table = node->as_table()) {
      const auto found = table->find(*token);
      if (found == table->end()) break;
      position = position_of(found->first.source());
      node = &found->second;
    } else if (const auto* array = node->as_array()) {
      std::size_t index = 0;
      const auto [end, status] = std::from_chars(token->data(), token->data() + token->size(), index);
      if (status != std::errc{} || index >= array->size()) break;
      node = array->get(index);
      if (node->source().begin) position = position_of(node->source());
    } else {
      break;
    }
  }
  return position;
}

}  // namespace proteus::toml
