#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace proteus::net {

// Compares header names without regard to ASCII case (RFC 9110, 5.1).
bool same_field_name(std::string_view a, std::string_view b);

struct Field {
  std::string_view name;
  std::string_view value;
};

// The header fields of one message, as views into the buffer that holds the message.
class Fields {
 public:
  void add(std::string_view name, std::string_view value) {
    if (size_ == fields_.size()) [[unlikely]]
      make_room();
    fields_[size_++] = {name, value};
  }
  void clear() { size_ = 0; }

  // Returns the value of the first field of that name.
  std::optional<std::string_view> find(std::string_view name) const {
    for (const Field& field : *this) {
      if (field.name.size() == name.size() && same_field_name(field.name, name)) return field.value;
    }
    return std::nullopt;
  }
  std::size_t count(std::string_view name) const {
    std::size_t count = 0;
    for (const Field& field : *this)
      count += field.name.size() == name.size() && same_field_name(field.name, name) ? 1U : 0U;
    return count;
  }

  const Field* begin() const { return fields_.data(); }
  const Field* end() const { return fields_.data() + size_; }
  std::size_t size() const { return size_; }

 private:
  void make_room();

  std::vector<Field> fields_;  // entries from `size_` on are left from earlier messages
  std::size_t size_ = 0;
};

}  // namespace proteus::net
