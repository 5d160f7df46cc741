#include "providers/http_tool/arguments.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/log/log.hpp"
#include "base/text/ascii.hpp"
#include "json/schema/json_pointer.hpp"
#include "json/splice.hpp"
#include "json/text.hpp"
#include "json/tokens.hpp"

namespace proteus::providers {
namespace {

using boost::json::object;
using boost::json::value;

std::string pointer_to(std::string_view key) {
  std::string pointer;
  json::schema::append_pointer_token(pointer, key);
  return pointer;
}

bool has_null(const object& arguments) {
  return std::ranges::any_of(arguments, [](const auto& member) { return member.value().is_null(); });
}

// Without one null, the schema may judge another one differently, for example by a condition. If this many rounds are
// not enough, the caller gets an error instead.
constexpr int kRounds = 3;

// Sorted and not hashed, because the caller chooses the names and could make their hashes collide.
using Names = std::set<std::string, std::less<>>;

// Takes out the nulls that the schema refuses, with one validation however many there are.
Names take_refused_nulls(value& arguments, const json::Schema& schema) {
  object& members = arguments.get_object();
  const auto nulls = std::ranges::count_if(members, [](const auto& member) { return member.value().is_null(); });
  const auto validation = schema.validate(arguments, static_cast<std::size_t>(nulls) + 1);
  if (!validation.complete) return {};
  std::set<std::string_view> refused;
  for (const auto& error : validation.errors)
    refused.insert(error.instance_path);
  Names taken;
  for (auto member = members.begin(); member != members.end();) {
    if (member->value().is_null() && refused.contains(pointer_to(member->key()))) {
      taken.emplace(member->key());
      member = members.erase(member);
    } else {
      ++member;
    }
  }
  return taken;
}

// Returns the names of the nulls without which the arguments are valid, or what is wrong with the arguments.
std::expected<Names, std::string> nulls_to_leave_out(value arguments, const json::Schema& schema) {
  Names left_out;
  for (int round = 0; !schema.accepts(arguments); ++round) {
    Names taken = round < kRounds && has_null(arguments.get_object()) ? take_refused_nulls(arguments, schema) : Names{};
    if (taken.empty()) return std::unexpected("Invalid arguments:\n" + schema.validate(arguments).text());
    left_out.merge(taken);
  }
  return left_out;
}

// Returns the object without some of its members, and every other byte unchanged. `raw` must be JSON.
std::string without(std::string_view raw, const Names& names) {
  std::vector<std::unique_ptr<std::string>> storage;
  json::Members members;
  auto tokens = json::Tokens::of(raw, json::Tokens::kDeepest);
  tokens->enter('{');
  do {
    const std::string_view key = json::decoded(tokens->take_key(), storage);
    members.add({key, tokens->take_value()});
  } while (tokens->take(','));
  json::Splice splice(raw);
  json::edit_members(splice, raw, members, [&](const json::Member& member) { return names.contains(member.key); });
  return splice.str();
}

std::string_view trimmed_inside(std::string_view raw) { return trimmed(raw.substr(1, raw.size() - 2), " \n\t\r"); }

}  // namespace

std::expected<CheckedArguments, std::string> CheckedArguments::check(const HttpTool& tool, std::string_view raw) {
  CheckedArguments checked;
  auto parsed = json::parse(raw.empty() ? "{}" : raw);
  if (!parsed) return std::unexpected(fmt::format("Invalid arguments: {}", parsed.error().message()));
  if (!parsed->is_object()) return std::unexpected("Invalid arguments: they must be an object");
  for (const std::string& name : tool.reserved) {
    // Worded like the schema's error for an unknown property, so that the fixed members stay secret.
    if (parsed->get_object().contains(name))
      return std::unexpected(
          fmt::format("Invalid arguments:\n/: property \"{}\" is not allowed", log::printable(name, 128)));
  }
  const auto left_out = nulls_to_leave_out(std::move(*parsed), *tool.input);
  if (!left_out) return std::unexpected(left_out.error());
  if (!left_out->empty()) {
    checked.owned_ = trimmed_inside(without(raw, *left_out));
  } else if (!raw.empty()) {
    checked.raw_ = trimmed_inside(raw);
  }
  return checked;
}

}  // namespace proteus::providers
