#include "net/http_client/plain_head.hpp"

#include <algorithm>
#include <charconv>
#include <span>
#include <utility>

#include "net/http/field_text.hpp"
#include "net/http/token.hpp"

namespace proteus::net {
namespace {

constexpr std::string_view kVersion = "HTTP/1.1 ";
constexpr std::size_t kLineEnd = 2;
constexpr std::size_t kMostDigits = 18;

}  // namespace

std::size_t PlainHead::read_again(std::string_view bytes, Fields& fields, std::size_t max_fields) {
  const auto* const lines = lines_.recall_all(bytes);
  if (lines == nullptr || lines->size() > max_fields + 1) return 0;
  fields.clear();
  for (const HeadLines::Line& known : std::span(*lines).subspan(1)) {
    const std::string_view line = bytes.substr(known.at, known.size);
    fields.add(known.name_in(line), known.value_in(line));
  }
  said_ = last_said_;
  return lines_.size();
}

bool PlainHead::read(std::string_view head, Fields& fields, std::size_t max_fields) {
  fields.clear();
  lines_.restart();
  said_ = {};
  for (std::size_t at = 0; at < head.size();) {
    if (const auto* const known = lines_.recall(head, at)) {
      const std::string_view line = head.substr(at, known->size);
      at += line.size();
      if (said_.status == 0) {
        if (!read_status(line)) return false;
        continue;
      }
      if (fields.size() == max_fields) return false;
      fields.add(known->name_in(line), known->value_in(line));
      if (!interpret(known->meaning, known->value_in(line))) return false;
      continue;
    }
    const std::size_t feed = head.find('\n', at);
    if (feed == std::string_view::npos || feed == at || head[feed - 1] != '\r') return false;
    const std::string_view line = head.substr(at, feed - 1 - at);
    if (line.empty()) {
      if (said_.status == 0 || at + kLineEnd != head.size() || (said_.chunked && said_.length)) return false;
      last_said_ = said_;
      lines_.finish(head);
      return true;
    }
    if (said_.status == 0) {
      if (!read_status(line) || has_control(line)) return false;
      lines_.learn(at, line, {}, {});
    } else if (fields.size() == max_fields || !read_field(line, at, fields)) {
      return false;
    }
    at = feed + 1;
  }
  return false;
}

bool PlainHead::read_status(std::string_view line) {
  if (!line.starts_with(kVersion)) return false;
  const std::string_view code = line.substr(kVersion.size(), 3);
  if (code.size() != 3 || !std::ranges::all_of(code, is_digit) || code[0] == '0') return false;
  if (line.size() == kVersion.size() + 3 || line[kVersion.size() + 3] != ' ') return false;
  std::from_chars(code.data(), code.data() + code.size(), said_.status);
  return true;
}

bool PlainHead::read_field(std::string_view line, std::size_t at, Fields& fields) {
  std::size_t colon = 0;
  while (colon < line.size() && is_token_character(line[colon]))
    ++colon;
  if (colon == 0 || colon == line.size() || line[colon] != ':') return false;
  const std::string_view name = line.substr(0, colon);
  if (same_field_name(name, "Proxy-Connection")) return false;  // some implementations treat it as Connection
  const std::string_view value = trim_blanks(line.substr(colon + 1));
  if (has_control(value)) return false;
  fields.add(name, value);
  const FieldMeaning meaning = meaning_of(name);
  lines_.learn(at, line, name, value, meaning);
  return interpret(meaning, value);
}

bool PlainHead::interpret(FieldMeaning meaning, std::string_view value) {
  switch (meaning) {
    case FieldMeaning::content_length: return read_length(value);
    case FieldMeaning::connection: return read_connection(value);
    case FieldMeaning::transfer_encoding:
      return !std::exchange(said_.chunked, true) && same_field_name(value, "chunked");
    case FieldMeaning::none:
    case FieldMeaning::host:
    case FieldMeaning::expect:
    case FieldMeaning::content_encoding:
    case FieldMeaning::authorization:
    case FieldMeaning::content_type:
    case FieldMeaning::last_event_id:
    case FieldMeaning::origin: break;
  }
  return true;
}

bool PlainHead::read_length(std::string_view value) {
  if (said_.length || value.empty() || value.size() > kMostDigits || !std::ranges::all_of(value, is_digit))
    return false;
  std::uint64_t length = 0;
  std::from_chars(value.data(), value.data() + value.size(), length);
  said_.length = length;
  return true;
}

bool PlainHead::read_connection(std::string_view value) {
  if (same_field_name(value, "close")) said_.close = true;
  return said_.close || same_field_name(value, "keep-alive");
}

}  // namespace proteus::net
