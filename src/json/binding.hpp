#pragma once

#include <algorithm>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/serialize.hpp>

#include "json/codec.hpp"

// Reads structs from JSON and writes them to JSON, by one table of fields per struct.
namespace proteus::json {

// One key of a struct `S`. Made by `field`.
template <class S>
struct Field {
  KeyInfo info;
  bool needed = false;
  std::function<void(const boost::json::value&, S&, const Place&)> read;
  std::function<std::optional<boost::json::value>(const S&, Part)> write;

  Field required() && {
    needed = true;
    info.default_text = "required";
    return std::move(*this);
  }
  // Sets the text that the reference shows instead of a fixed default.
  Field by_default(std::string words) && {
    info.default_text = std::move(words);
    return std::move(*this);
  }
};

template <class S, class T>
Field<S> field(std::string name, T S::* member, Codec<T> codec, std::string meaning) {
  Field<S> made;
  auto written = codec.write(S{}.*member, Part::settings);
  if (written && written->is_object() && !codec.keys.empty()) written.reset();
  made.info = {.name = std::move(name),
               .type = std::move(codec.type),
               .default_text = written ? boost::json::serialize(*written) : std::string(),
               .meaning = std::move(meaning),
               .keys = std::move(codec.keys)};
  made.read = [member, read = std::move(codec.read)](const boost::json::value& value, S& onto, const Place& place) {
    read(value, onto.*member, place);
  };
  made.write = [member, write = std::move(codec.write)](const S& from, Part part) { return write(from.*member, part); };
  return made;
}

namespace detail {
void unknown_key(const Place& place, std::string_view key, std::span<const std::string> known,
                 const boost::json::object& given);
}

// The fields of a struct. Immutable and thread-safe.
template <class S>
class Binding {
 public:
  Binding(std::initializer_list<Field<S>> fields) : fields_(fields) {
    for (const auto& one : fields_)
      names_.push_back(one.info.name);
  }

  // Assigns the keys of `value` to the fields of `onto` and leaves all other fields as they are, so that settings can
  // be layered. A null counts as an absent key. Unknown keys and absent required keys are faults.
  void read(const boost::json::value& value, S& onto, const Place& place) const {
    const auto* object = value.if_object();
    if (object == nullptr) return wrong_kind(place, "a table", value);
    for (const auto& member : *object) {
      const std::string_view key = member.key();
      const Place at = place.member(key);
      const auto* known = find(key);
      if (known == nullptr) {
        if (!place.faults().full()) detail::unknown_key(at, key, names_, *object);
      } else if (!member.value().is_null()) {
        known->read(member.value(), onto, at);
      }
    }
    for (const auto& one : fields_) {
      if (!one.needed) continue;
      const auto* given = object->if_contains(one.info.name);
      if (given == nullptr || given->is_null()) place.fault(one.info.name + " is missing");
    }
  }

  boost::json::object write(const S& from, Part part = Part::settings) const {
    boost::json::object out;
    for (const auto& one : fields_) {
      if (auto written = one.write(from, part)) out.emplace(one.info.name, std::move(*written));
    }
    return out;
  }

  // Writes only the keys whose values differ from those of `base`. Reading the result onto a copy of `base` gives
  // `from` again, except for secrets and for fields that are written in `base` but not in `from`, such as an empty
  // optional.
  boost::json::object write_difference(const S& from, const S& base) const {
    boost::json::object out;
    for (const auto& one : fields_) {
      auto written = one.write(from, Part::settings);
      if (written && written != one.write(base, Part::settings)) out.emplace(one.info.name, std::move(*written));
    }
    return out;
  }

  bool has(std::string_view name) const { return find(name) != nullptr; }

  // Returns the keys for the reference.
  std::vector<KeyInfo> describe() const {
    std::vector<KeyInfo> keys;
    keys.reserve(fields_.size());
    for (const auto& one : fields_)
      keys.push_back(one.info);
    return keys;
  }

 private:
  const Field<S>* find(std::string_view name) const {
    const auto found = std::ranges::find_if(fields_, [&](const Field<S>& one) { return one.info.name == name; });
    return found == fields_.end() ? nullptr : &*found;
  }

  std::vector<Field<S>> fields_;
  std::vector<std::string> names_;
};

// A table inside a table. Reading replaces the whole previous value. `check` is called with the value if reading it has
// added no fault. The binding must outlive the codec.
template <class S>
Codec<S> table(const Binding<S>& binding, std::function<void(const S&, const Place&)> check = {}) {
  return {.type = "table",
          .read =
              [&binding, check = std::move(check)](const boost::json::value& value, S& onto, const Place& place) {
                S given{};
                const std::size_t before = place.faults().all().size();
                binding.read(value, given, place);
                if (check && place.faults().all().size() == before) check(given, place);
                onto = std::move(given);
              },
          .write = [&binding](const S& from, Part part) -> std::optional<boost::json::value> {
            auto object = binding.write(from, part);
            if (part == Part::secrets && object.empty()) return std::nullopt;
            return object;
          },
          .keys = binding.describe()};
}

}  // namespace proteus::json
