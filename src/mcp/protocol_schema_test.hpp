#pragma once

// For tests: checks messages against the JSON schemas of the protocol, one per revision.

#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "json/schema/schema.hpp"
#include "json/text.hpp"
#include "mcp/version.hpp"

// The schemas are outside the source tree, in a directory beside it. Without them, tests are skipped rather than
// passed.
#define SKIP_WITHOUT_PROTOCOL_SCHEMAS()                                                          \
  if (!std::filesystem::exists(::proteus::mcp::protocol_schema_path(::proteus::mcp::kModern))) { \
    GTEST_SKIP() << "the protocol's schemas are not at "                                         \
                 << ::proteus::mcp::protocol_schema_path(::proteus::mcp::kModern).parent_path(); \
  }                                                                                              \
  static_assert(true)

namespace proteus::mcp {

inline constexpr Version kAllVersions[] = {Version::v2024_11_05, Version::v2025_03_26, Version::v2025_06_18,
                                           Version::v2025_11_25, Version::v2026_07_28};
// The revisions to which our servers agree in a handshake.
inline constexpr Version kNegotiatedVersions[] = {Version::v2024_11_05, Version::v2025_03_26, Version::v2025_06_18,
                                                  Version::v2025_11_25};

inline std::filesystem::path protocol_schema_path(Version version) {
  return std::filesystem::path(PROTEUS_SOURCE_DIR) / "../shared/data/mcp" /
         fmt::format("{}.schema.json", to_string(version));
}

inline const boost::json::object& protocol_schema(Version version) {
  static std::map<Version, boost::json::object> read;
  auto& schema = read[version];
  if (schema.empty()) {
    std::ifstream file(protocol_schema_path(version));
    std::stringstream text;
    text << file.rdbuf();
    schema = json::parse(text.str()).value().as_object();
  }
  return schema;
}

inline std::string_view definitions_key(Version version) {
  return protocol_schema(version).contains("$defs") ? "$defs" : "definitions";
}

inline const boost::json::object& definition(Version version, std::string_view name) {
  return protocol_schema(version).at(definitions_key(version)).at(name).as_object();
}

// Whether a value conforms to a definition of a revision.
inline testing::AssertionResult value_conforms(Version version, std::string_view name,
                                               const boost::json::value& value) {
  static std::map<std::pair<Version, std::string>, std::shared_ptr<const json::Schema>> compiled;
  auto& schema = compiled[{version, std::string(name)}];
  if (!schema) {
    boost::json::object document = protocol_schema(version);
    document["$ref"] = fmt::format("#/{}/{}", definitions_key(version), name);
    auto made = json::Schema::compile(document);
    if (!made) return testing::AssertionFailure() << name << ": " << made.error().message();
    schema = std::move(*made);
  }
  const auto validation = schema->validate(value);
  if (validation.ok()) return testing::AssertionSuccess() << name << " " << value;
  return testing::AssertionFailure() << to_string(version) << " " << name << ": " << validation.text() << "\n" << value;
}

inline testing::AssertionResult conforms(Version version, std::string_view name, std::string_view text) {
  const auto value = json::parse(text);
  if (!value) return testing::AssertionFailure() << value.error().message() << ": " << text;
  return value_conforms(version, name, *value);
}

// Whether a message is a response whose result conforms to a definition of a revision.
inline testing::AssertionResult result_conforms(Version version, std::string_view name, std::string_view message) {
  const auto frame =
      conforms(version, version < Version::v2025_11_25 ? "JSONRPCResponse" : "JSONRPCResultResponse", message);
  return frame ? value_conforms(version, name, json::parse(message)->at("result")) : frame;
}

inline testing::AssertionResult error_conforms(Version version, std::string_view message) {
  return conforms(version, version < Version::v2025_11_25 ? "JSONRPCError" : "JSONRPCErrorResponse", message);
}

// Returns the names of all methods in a union such as "ClientRequest"; empty if the revision has no such union.
inline std::set<std::string, std::less<>> methods_of(Version version, std::string_view union_name) {
  std::set<std::string, std::less<>> names;
  const auto add = [&](const boost::json::object& message) {
    names.emplace(message.at("properties").at("method").at("const").as_string());
  };
  const auto* found = protocol_schema(version).at(definitions_key(version)).as_object().if_contains(union_name);
  if (found == nullptr) return names;
  const auto* members = found->as_object().if_contains("anyOf");
  if (members == nullptr) {
    add(found->as_object());
    return names;
  }
  for (const auto& member : members->as_array()) {
    const std::string_view reference = member.at("$ref").as_string();
    add(definition(version, reference.substr(reference.rfind('/') + 1)));
  }
  return names;
}

}  // namespace proteus::mcp
