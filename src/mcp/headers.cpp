#include "mcp/headers.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>
#include <set>

#include <boost/json/object.hpp>
#include <fmt/format.h>

#include "base/log/log.hpp"
#include "base/text/ascii.hpp"
#include "base/text/base64.hpp"
#include "json/text.hpp"
#include "mcp/errors.hpp"

namespace proteus::mcp {
namespace {

constexpr std::string_view kSentinelBegin = "=?base64?";
constexpr std::string_view kSentinelEnd = "?=";
constexpr std::string_view kAnnotation = "x-mcp-header";
// The depth that the parser allows for the text of a schema.
constexpr int kMaxSchemaDepth = 128;
// Each parameter keeps its whole path, and many paths may share long names, so the limits prevent memory many times the
// size of the definition. More would not fit into the head of a request either.
constexpr std::size_t kMaxMirrored = 100;
constexpr std::size_t kMaxPathBytes = 4096;
// Every JSON implementation represents integers up to this one exactly.
constexpr double kLargestSafeInteger = 9007199254740991.0;

// True even for "=?base64?=", in which the markers share a character: readers differ on whether that is Base64.
bool looks_like_sentinel(std::string_view value) {
  return value.starts_with(kSentinelBegin) && value.ends_with(kSentinelEnd);
}

bool is_sentinel(std::string_view value) {
  return looks_like_sentinel(value) && value.size() >= kSentinelBegin.size() + kSentinelEnd.size();
}

bool is_field_character(char c) { return c == '\t' || (c >= 0x20 && c <= 0x7e); }

bool is_token(std::string_view text) {
  static constexpr std::string_view kPunctuation = "!#$%&'*+-.^_`|~";
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return is_digit(c) || is_letter(c) || kPunctuation.find(c) != std::string_view::npos;
  });
}

// Collects annotations. `reachable` is true for schemas that are reached from the root by `properties` alone.
class AnnotationReader {
 public:
  Result<void> read(const boost::json::value& schema, std::vector<std::string>& path, bool reachable, int depth) {
    if (depth > kMaxSchemaDepth) return std::unexpected(errors::invalid_params("the schema is nested too deep"));
    if (const auto* array = schema.if_array()) {
      for (const auto& element : *array) {
        if (auto read_element = read(element, path, false, depth + 1); !read_element) return read_element;
      }
      return {};
    }
    const auto* object = schema.if_object();
    if (object == nullptr) return {};
    if (const auto* annotation = object->if_contains(kAnnotation)) {
      if (auto added = add(*object, *annotation, path, reachable); !added) return added;
    }
    for (const auto& [key, value] : *object) {
      if (key == kAnnotation || is_data(key)) continue;
      const auto* named = holds_named_schemas(key) ? value.if_object() : nullptr;
      if (named == nullptr) {
        if (auto inner = read(value, path, false, depth + 1); !inner) return inner;
        continue;
      }
      // Names of properties are not keywords: a property may be called `default`, or `x-mcp-header`.
      const bool chain = reachable && key == "properties";
      for (const auto& [name, inner_schema] : *named) {
        path.emplace_back(name);
        auto inner = read(inner_schema, path, chain, depth + 1);
        path.pop_back();
        if (!inner) return inner;
      }
    }
    return {};
  }

  std::vector<MirroredParameter> take() { return std::move(found_); }

 private:
  // Keywords whose value is an object that maps names to schemas.
  static bool holds_named_schemas(std::string_view key) {
    return key == "properties" || key == "patternProperties" || key == "$defs" || key == "definitions" ||
           key == "dependentSchemas" || key == "dependencies";
  }

  // Keywords whose value is an instance, not a schema.
  static bool is_data(std::string_view key) {
    return key == "const" || key == "enum" || key == "default" || key == "examples";
  }

  Result<void> add(const boost::json::object& schema, const boost::json::value& annotation,
                   const std::vector<std::string>& path, bool reachable) {
    const auto fault = [&](std::string_view why) {
      const std::string place = bytes_of(path) > kMaxPathBytes ? "…" : fmt::format("{}", fmt::join(path, "/"));
      return std::unexpected(errors::invalid_params(fmt::format("{} at /{}: {}", kAnnotation, place, why)));
    };
    if (!annotation.is_string()) return fault("must be a string");
    const std::string_view name = annotation.get_string();
    if (name.empty()) return fault("must not be empty");
    if (!is_token(name)) return fault("must be an HTTP field name");
    if (!reachable || path.empty()) return fault("is allowed only on properties reached by `properties` alone");
    const auto* type = schema.if_contains("type");
    const std::string_view type_name = type != nullptr && type->is_string() ? type->get_string() : std::string_view{};
    MirroredParameter::Type parsed{};
    if (type_name == "string") {
      parsed = MirroredParameter::Type::string;
    } else if (type_name == "integer") {
      parsed = MirroredParameter::Type::integer;
    } else if (type_name == "boolean") {
      parsed = MirroredParameter::Type::boolean;
    } else {
      return fault("is allowed only on a string, an integer or a boolean");
    }
    if (bytes_of(path) > kMaxPathBytes) return fault("is below names that are too long");
    if (found_.size() == kMaxMirrored) return fault("is used for too many parameters");
    if (!names_.insert(lower_case(name)).second) return fault("is used twice");
    found_.push_back({fmt::format("{}{}", header::kParameterPrefix, name), path, parsed});
    return {};
  }

  static std::size_t bytes_of(const std::vector<std::string>& path) {
    return std::accumulate(path.begin(), path.end(), path.size(),
                           [](std::size_t sum, const std::string& key) { return sum + key.size(); });
  }

  std::vector<MirroredParameter> found_;
  std::set<std::string> names_;
};

const boost::json::value* value_at(const boost::json::value& arguments, const std::vector<std::string>& path) {
  const boost::json::value* at = &arguments;
  for (const auto& key : path) {
    const auto* object = at->if_object();
    at = object == nullptr ? nullptr : object->if_contains(key);
    if (at == nullptr) return nullptr;
  }
  return at->is_null() ? nullptr : at;
}

std::optional<double> as_number(std::string_view text) {
  double number = 0;
  const auto [stop, status] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (status != std::errc{} || stop != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<double> as_number(const boost::json::value& value) {
  boost::system::error_code status;
  const auto number = value.to_number<double>(status);
  if (status) return std::nullopt;
  return number;
}

// Larger integers share doubles with others, so two different ones could compare equal.
bool is_safe_integer(std::optional<double> number) {
  return number && std::trunc(*number) == *number && std::abs(*number) <= kLargestSafeInteger;
}

// Returns the header value before encoding; nothing if the argument does not have the type of the parameter.
std::optional<std::string> plain_value(const MirroredParameter& parameter, const boost::json::value& value) {
  switch (parameter.type) {
    case MirroredParameter::Type::string:
      if (value.is_string()) return std::string(value.get_string());
      return std::nullopt;
    case MirroredParameter::Type::boolean:
      if (value.is_bool()) return value.get_bool() ? "true" : "false";
      return std::nullopt;
    case MirroredParameter::Type::integer: {
      const auto number = as_number(value);
      if (!is_safe_integer(number)) return std::nullopt;
      return fmt::format("{:.0f}", *number == 0 ? 0.0 : *number);
    }
  }
  return std::nullopt;
}

bool same(const MirroredParameter& parameter, std::string_view header_value, const boost::json::value& value) {
  if (parameter.type == MirroredParameter::Type::integer) {
    const auto in_header = as_number(header_value);
    return is_safe_integer(in_header) && in_header == as_number(value);
  }
  return plain_value(parameter, value) == header_value;
}

}  // namespace

std::string encode_header_value(std::string_view value) {
  // Tabs inside a value and empty values are legal, but not safe with every proxy and library on the way.
  const bool plain = !value.empty() && value.front() != ' ' && value.back() != ' ' &&
                     value.find('\t') == std::string_view::npos && std::ranges::all_of(value, is_field_character) &&
                     !looks_like_sentinel(value);
  if (plain) return std::string(value);
  return fmt::format("{}{}{}", kSentinelBegin, base64_encode(value), kSentinelEnd);
}

Result<std::string> decode_header_value(std::string_view value) {
  if (!std::ranges::all_of(value, is_field_character)) {
    return std::unexpected(errors::header_mismatch("a value holds characters that are not allowed in a header"));
  }
  if (!is_sentinel(value)) return std::string(value);
  const std::string_view inside =
      value.substr(kSentinelBegin.size(), value.size() - kSentinelBegin.size() - kSentinelEnd.size());
  auto decoded = base64_decode(inside);
  if (!decoded) return std::unexpected(errors::header_mismatch("a value is not valid Base64"));
  return std::move(*decoded);
}

Result<std::vector<MirroredParameter>> mirrored_parameters(const boost::json::value& input_schema) {
  AnnotationReader reader;
  std::vector<std::string> path;
  if (auto read = reader.read(input_schema, path, true, 0); !read) return std::unexpected(read.error());
  return reader.take();
}

Result<std::vector<std::pair<std::string, std::string>>> mirror(const std::vector<MirroredParameter>& parameters,
                                                                const boost::json::value& arguments) {
  std::vector<std::pair<std::string, std::string>> headers;
  for (const auto& parameter : parameters) {
    const auto* value = value_at(arguments, parameter.path);
    if (value == nullptr) continue;
    auto plain = plain_value(parameter, *value);
    if (!plain) {
      return std::unexpected(errors::invalid_params(
          fmt::format("the argument mirrored into {} has another type than its schema says", parameter.header)));
    }
    headers.emplace_back(parameter.header, encode_header_value(*plain));
  }
  return headers;
}

Result<void> check_mirrored(const std::vector<MirroredParameter>& parameters, const boost::json::value& arguments,
                            const HeaderLookup& lookup, MissingHeader missing) {
  for (const auto& parameter : parameters) {
    const auto* value = value_at(arguments, parameter.path);
    const auto header = lookup(parameter.header);
    if (value == nullptr) {
      if (!header) continue;
      return std::unexpected(
          errors::header_mismatch(fmt::format("{} is sent, but the body has no such argument", parameter.header)));
    }
    if (!header && missing == MissingHeader::allowed) continue;
    if (!header) {
      return std::unexpected(
          errors::header_mismatch(fmt::format("{} is missing, but the body has the argument", parameter.header)));
    }
    const auto decoded = decode_header_value(*header);
    if (!decoded) return std::unexpected(decoded.error());
    if (!same(parameter, *decoded, *value)) {
      return std::unexpected(
          errors::header_mismatch(fmt::format("{} does not match the argument in the body", parameter.header)));
    }
  }
  return {};
}

Result<void> check_name_header(std::optional<std::string_view> value, std::string_view expected) {
  if (!value) return std::unexpected(errors::header_mismatch(fmt::format("{} is missing", header::kName)));
  if (*value == expected && !is_sentinel(*value) && std::ranges::all_of(*value, is_field_character)) return {};
  const auto decoded = decode_header_value(*value);
  if (!decoded) return std::unexpected(decoded.error());
  if (*decoded != expected) {
    return std::unexpected(
        errors::header_mismatch(fmt::format("{} header value '{}' does not match body value '{}'", header::kName,
                                            log::printable(*decoded), log::printable(expected))));
  }
  return {};
}

}  // namespace proteus::mcp
