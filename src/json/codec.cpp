#include "json/codec.hpp"

#include <fmt/format.h>

#include "json/schema/explain.hpp"

namespace proteus::json {
namespace {

using schema::explain::quoted;

std::optional<boost::json::value> written(Part part, boost::json::value value) {
  if (part == Part::secrets) return std::nullopt;
  return value;
}

constexpr std::size_t kMaxSecretBytes = 16U << 10U;

}  // namespace

std::string_view kind_of(const boost::json::value& value) {
  switch (value.kind()) {
    case boost::json::kind::null: return "null";
    case boost::json::kind::bool_: return "a boolean";
    case boost::json::kind::int64:
    case boost::json::kind::uint64:
    case boost::json::kind::double_: return "a number";
    case boost::json::kind::string: return "a string";
    case boost::json::kind::array: return "a list";
    case boost::json::kind::object: return "a table";
  }
  return "something else";
}

void wrong_kind(const Place& place, std::string_view expected, const boost::json::value& value) {
  place.fault(fmt::format("must be {}, not {}", expected, kind_of(value)));
}

Codec<std::string> text(TextRules rules) {
  const WhenEmpty when_empty = rules.when_empty;
  return {.type = "string",
          .read =
              [rules = std::move(rules)](const boost::json::value& value, std::string& onto, const Place& place) {
                const auto* string = value.if_string();
                if (string == nullptr) return wrong_kind(place, "a string", value);
                const std::string_view given = *string;
                if (given.size() > rules.max_bytes)
                  return place.fault(fmt::format("must have at most {} bytes", rules.max_bytes));
                if (given.contains('\0')) return place.fault("must not hold a zero byte");
                if (rules.check) {
                  if (const auto fit = rules.check(given); !fit) return place.fault(fit.error().message());
                }
                onto = given;
              },
          .write = [when_empty](const std::string& value, Part part) -> std::optional<boost::json::value> {
            if (value.empty() && when_empty == WhenEmpty::left_out) return std::nullopt;
            return written(part, boost::json::value(value));
          }};
}

Codec<Secret> secret(std::string instead) {
  return {.type = "string, write-only",
          .read =
              [instead = std::move(instead)](const boost::json::value& value, Secret& onto, const Place& place) {
                if (place.secrets() == Secrets::refused) {
                  return place.fault(fmt::format(
                      "a secret has no place in a file; name the environment variable that holds it in {}", instead));
                }
                const auto* string = value.if_string();
                if (string == nullptr) return wrong_kind(place, "a string", value);
                const std::string_view given = *string;
                if (given.empty()) return place.fault("must not be empty");
                if (given.size() > kMaxSecretBytes)
                  return place.fault(fmt::format("must have at most {} bytes", kMaxSecretBytes));
                onto = Secret(std::string(given));
              },
          .write = [](const Secret& value, Part part) -> std::optional<boost::json::value> {
            if (part == Part::settings || value.empty()) return std::nullopt;
            return boost::json::value(value.reveal());
          }};
}

Codec<bool> boolean() {
  return {.type = "boolean",
          .read =
              [](const boost::json::value& value, bool& onto, const Place& place) {
                if (!value.is_bool()) return wrong_kind(place, "true or false", value);
                onto = value.get_bool();
              },
          .write = [](const bool& value, Part part) { return written(part, boost::json::value(value)); }};
}

Codec<std::chrono::milliseconds> duration(Zero zero) {
  return {.type = "duration",
          .read =
              [zero](const boost::json::value& value, std::chrono::milliseconds& onto, const Place& place) {
                const auto* string = value.if_string();
                if (string == nullptr) return wrong_kind(place, "a string with a unit, such as \"30s\"", value);
                const auto given = parse_duration(*string);
                if (!given) return place.fault(given.error().message());
                if (zero == Zero::refused && given->count() == 0) return place.fault("must be above zero");
                onto = *given;
              },
          .write = [](const std::chrono::milliseconds& value,
                      Part part) { return written(part, boost::json::value(write_duration(value))); }};
}

Codec<ByteSize> size(ByteSize least, ByteSize most) {
  return {
      .type = "size",
      .read =
          [least, most](const boost::json::value& value, ByteSize& onto, const Place& place) {
            const auto* string = value.if_string();
            if (string == nullptr) return wrong_kind(place, "a string with a unit, such as \"4MiB\"", value);
            const auto given = parse_size(*string);
            if (!given) return place.fault(given.error().message());
            if (*given < least || *given > most)
              return place.fault(fmt::format("must be from {} to {}", write_size(least), write_size(most)));
            onto = *given;
          },
      .write = [](const ByteSize& value, Part part) { return written(part, boost::json::value(write_size(value))); }};
}

namespace detail {

std::optional<std::int64_t> read_integer(const boost::json::value& value, std::int64_t least, std::int64_t most,
                                         const Place& place) {
  if (!value.is_int64() && !value.is_uint64()) {
    wrong_kind(place, "a whole number", value);
    return std::nullopt;
  }
  const bool fits = value.is_int64() ? value.get_int64() >= least && value.get_int64() <= most
                                     : most >= 0 && value.get_uint64() <= static_cast<std::uint64_t>(most);
  if (!fits) {
    place.fault(least == 1 && value.is_int64() && value.get_int64() < 1
                    ? "must be above zero"
                    : fmt::format("must be from {} to {}", least, most));
    return std::nullopt;
  }
  return value.is_int64() ? value.get_int64() : static_cast<std::int64_t>(value.get_uint64());
}

std::string listed(const std::vector<std::string>& names) {
  std::string out;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) out += i + 1 == names.size() ? " or " : ", ";
    out += fmt::format("\"{}\"", names[i]);
  }
  return out;
}

void wrong_choice(const Place& place, const std::vector<std::string>& names, const boost::json::value& value) {
  const auto* string = value.if_string();
  place.fault(fmt::format("must be {}, not {}", listed(names),
                          string != nullptr ? quoted(*string) : std::string(kind_of(value))));
}

bool read_count(const Place& place, std::size_t count, std::size_t most, std::string_view what) {
  if (count <= most) return true;
  place.fault(fmt::format("has {} {}, and at most {} are allowed", count, what, most));
  return false;
}

}  // namespace detail
}  // namespace proteus::json
