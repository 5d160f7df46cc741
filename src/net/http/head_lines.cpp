#include "net/http/head_lines.hpp"

#include <utility>

#include "net/http/fields.hpp"

namespace proteus::net {
namespace {

// A longer head is not remembered.
constexpr std::size_t kMost = 2048;

}  // namespace

FieldMeaning meaning_of(std::string_view name) {
  const auto is = [name](std::string_view known) { return same_field_name(name, known); };
  switch (name.size()) {
    case 4: return is("Host") ? FieldMeaning::host : FieldMeaning::none;
    case 6: return is("Expect") ? FieldMeaning::expect : is("Origin") ? FieldMeaning::origin : FieldMeaning::none;
    case 10: return is("Connection") ? FieldMeaning::connection : FieldMeaning::none;
    case 12: return is("Content-Type") ? FieldMeaning::content_type : FieldMeaning::none;
    case 13:
      return is("Authorization")   ? FieldMeaning::authorization
             : is("Last-Event-ID") ? FieldMeaning::last_event_id
                                   : FieldMeaning::none;
    case 14: return is("Content-Length") ? FieldMeaning::content_length : FieldMeaning::none;
    case 16: return is("Content-Encoding") ? FieldMeaning::content_encoding : FieldMeaning::none;
    case 17: return is("Transfer-Encoding") ? FieldMeaning::transfer_encoding : FieldMeaning::none;
    default: return FieldMeaning::none;
  }
}

void HeadLines::differ() {
  if (std::exchange(changed_, true)) return;
  changed_lines_.assign(lines_.begin(), lines_.begin() + static_cast<std::ptrdiff_t>(next_));
}

void HeadLines::note(const Line& line, std::size_t at) {
  differ();
  changed_lines_.push_back(line);
  changed_lines_.back().at = static_cast<std::uint16_t>(at);  // if that overflows, the head is not remembered
}

void HeadLines::learn(std::size_t at, std::string_view line, std::string_view name, std::string_view value,
                      FieldMeaning meaning) {
  differ();
  Line found;
  if (at + line.size() + 2 <= kMost) {
    const auto narrow = [](std::size_t size) { return static_cast<std::uint16_t>(size); };
    const std::size_t value_at = value.empty() ? 0 : static_cast<std::size_t>(value.data() - line.data());
    found = {narrow(at), narrow(line.size() + 2), narrow(name.size()), narrow(value_at), narrow(value.size()), meaning};
  }
  changed_lines_.push_back(found);
  ++next_;
}

void HeadLines::remember(std::string_view head) {
  differ();
  if (head.size() > kMost) changed_lines_.clear();
  lines_.swap(changed_lines_);
  text_.assign(lines_.empty() ? std::string_view() : head);
}

}  // namespace proteus::net
