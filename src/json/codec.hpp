#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <proteus/error.hpp>

#include "base/secrets/secret.hpp"
#include "base/settings/units.hpp"
#include "json/place.hpp"

// Codecs translate between typed values and JSON. They read and report every fault, write what reads back as the same
// value, and describe the key for the reference. They are made once, immutable and thread-safe.
namespace proteus::json {

// A document is written in two parts, so that secrets never leak by accident.
enum class Part : std::uint8_t { settings, secrets };

// The description of one key in the reference.
struct KeyInfo {
  std::string name;
  std::string type;
  std::string default_text;  // JSON or words; empty for a table, whose keys have their own defaults
  std::string meaning;
  std::vector<KeyInfo> keys;  // of a table, or of each table in a list or map
};

template <class T>
struct Codec {
  std::string type;
  // Assigns the JSON value to the typed one. If the JSON is unusable, reports faults at the place, and the typed value
  // is unchanged or partly read.
  std::function<void(const boost::json::value&, T&, const Place&)> read;
  // Returns nothing if the value has nothing to write in this part.
  std::function<std::optional<boost::json::value>(const T&, Part)> write;
  std::vector<KeyInfo> keys = {};
};

// Returns "a string", "a number" and so on, for faults. Faults never show the value itself, which may be a secret.
std::string_view kind_of(const boost::json::value& value);
// Reports the fault "must be a string, not a number".
void wrong_kind(const Place& place, std::string_view expected, const boost::json::value& value);

// Fails with the message of the fault if the text is not valid.
using TextCheck = std::function<Result<>(std::string_view)>;

enum class WhenEmpty : std::uint8_t { written, left_out };

struct TextRules {
  std::size_t max_bytes = 4096;
  TextCheck check = {};
  WhenEmpty when_empty = WhenEmpty::written;
};
// A string without zero bytes.
Codec<std::string> text(TextRules rules = {});
// A secret. Read only if the place accepts secrets, as in the API, and written only with `Part::secrets`. The fault for
// other documents suggests the key `instead`, which names an environment variable.
Codec<Secret> secret(std::string instead);
Codec<bool> boolean();

enum class Zero : std::uint8_t { refused, allowed };
Codec<std::chrono::milliseconds> duration(Zero zero = Zero::refused);
Codec<ByteSize> size(ByteSize least, ByteSize most);

namespace detail {
std::optional<std::int64_t> read_integer(const boost::json::value& value, std::int64_t least, std::int64_t most,
                                         const Place& place);
std::string listed(const std::vector<std::string>& names);
void wrong_choice(const Place& place, const std::vector<std::string>& names, const boost::json::value& value);
bool read_count(const Place& place, std::size_t count, std::size_t most, std::string_view what);
}  // namespace detail

template <class Integer>
Codec<Integer> integer(std::int64_t least, std::int64_t most) {
  static_assert(std::is_integral_v<Integer>);
  return {.type = "integer",
          .read =
              [least, most](const boost::json::value& value, Integer& onto, const Place& place) {
                if (const auto number = detail::read_integer(value, least, most, place))
                  onto = static_cast<Integer>(*number);
              },
          .write = [](const Integer& number, Part part) -> std::optional<boost::json::value> {
            if (part == Part::secrets) return std::nullopt;
            return boost::json::value(static_cast<std::int64_t>(number));
          }};
}

// One of several words, each of which stands for a value.
template <class T>
Codec<T> choice(std::vector<std::pair<std::string, T>> words) {
  std::vector<std::string> names;
  names.reserve(words.size());
  for (const auto& [name, value] : words)
    names.push_back(name);
  std::string type = detail::listed(names);
  return {.type = std::move(type),
          .read =
              [words, names](const boost::json::value& value, T& onto, const Place& place) {
                const auto* string = value.if_string();
                for (const auto& [name, meant] : words) {
                  if (string != nullptr && std::string_view(*string) == name) {
                    onto = meant;
                    return;
                  }
                }
                detail::wrong_choice(place, names, value);
              },
          .write = [words](const T& chosen, Part part) -> std::optional<boost::json::value> {
            for (const auto& [name, value] : words) {
              if (part == Part::settings && value == chosen) return boost::json::value(name);
            }
            return std::nullopt;
          }};
}

// A value that is absent unless given.
template <class T>
Codec<std::optional<T>> optional(Codec<T> inner) {
  return {
      .type = inner.type,
      .read =
          [read = inner.read](const boost::json::value& value, std::optional<T>& onto, const Place& place) {
            T given{};
            const std::size_t before = place.faults().all().size();
            read(value, given, place);
            if (place.faults().all().size() == before) onto = std::move(given);
          },
      .write = [write = inner.write](const std::optional<T>& value, Part part) -> std::optional<boost::json::value> {
        return value ? write(*value, part) : std::nullopt;
      },
      .keys = std::move(inner.keys)};
}

struct Counts {
  std::size_t least = 0;
  std::size_t most = 1000;
};

// A list; reading replaces the whole previous list. `plural` names the items in the reference: "list of strings".
// Reading fewer than `counts.least` items is a fault, so such a list was never given and is not written. Secrets inside
// lists and maps are never written.
template <class T>
Codec<std::vector<T>> list(Codec<T> item, std::string plural, Counts counts = {}) {
  return {.type = "list of " + plural,
          .read =
              [read = item.read, plural, counts](const boost::json::value& value, std::vector<T>& onto,
                                                 const Place& place) {
                const auto* array = value.if_array();
                if (array == nullptr) return wrong_kind(place, "a list of " + plural, value);
                if (array->size() < counts.least) return place.fault("must not be empty");
                if (!detail::read_count(place, array->size(), counts.most, plural)) return;
                std::vector<T> items(array->size());
                for (std::size_t i = 0; i < items.size(); ++i)
                  read((*array)[i], items[i], place.item(i));
                onto = std::move(items);
              },
          .write = [write = item.write, counts](const std::vector<T>& items,
                                                Part part) -> std::optional<boost::json::value> {
            if (part == Part::secrets || items.size() < counts.least) return std::nullopt;
            boost::json::array out;
            for (const T& one : items) {
              if (auto written = write(one, part)) out.push_back(std::move(*written));
            }
            return out;
          },
          .keys = std::move(item.keys)};
}

// A table whose keys are names that the user chooses. Reading replaces the whole previous map.
template <class T>
Codec<std::map<std::string, T>> map(Codec<T> item, std::string plural, TextCheck check_key, Counts counts = {}) {
  return {.type = "table of " + plural,
          .read =
              [read = item.read, plural, check_key = std::move(check_key), counts](
                  const boost::json::value& value, std::map<std::string, T>& onto, const Place& place) {
                const auto* object = value.if_object();
                if (object == nullptr) return wrong_kind(place, "a table of " + plural, value);
                if (!detail::read_count(place, object->size(), counts.most, plural)) return;
                std::map<std::string, T> items;
                for (const auto& member : *object) {
                  const std::string key(member.key());
                  const Place at = place.member(key);
                  if (const auto fit = check_key(key); !fit) at.fault(fit.error().message());
                  read(member.value(), items[key], at);
                }
                onto = std::move(items);
              },
          .write = [write = item.write](const std::map<std::string, T>& items,
                                        Part part) -> std::optional<boost::json::value> {
            if (part == Part::secrets) return std::nullopt;
            boost::json::object out;
            for (const auto& [key, one] : items) {
              if (auto written = write(one, part)) out.emplace(key, std::move(*written));
            }
            return out;
          },
          .keys = std::move(item.keys)};
}

}  // namespace proteus::json
