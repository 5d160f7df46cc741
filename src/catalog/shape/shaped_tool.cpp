#include "catalog/shape/shaped_tool.hpp"

#include <fmt/format.h>

#include "base/log/log.hpp"
#include "json/message.hpp"
#include "json/splice.hpp"
#include "json/text.hpp"

namespace proteus::catalog {
namespace {

// Checking longer arguments would occupy a worker too long; the upstream checks them itself.
constexpr std::size_t kMostChecked = std::size_t{16} << 10U;
constexpr json::ScanLimits kArguments{.members = 1024};

std::unexpected<Error> refuse_call(std::string why) { return std::unexpected(errors::invalid(std::move(why))); }

void add_argument(std::string& added, std::string_view name, std::string_view value) {
  if (!added.empty()) added += ',';
  json::append_quoted(added, name);
  added += ':';
  added += value;
}

Result<void> check_arguments(const json::Schema& schema, std::string_view given) {
  const auto value = json::parse(given);
  if (!value) return refuse_call(fmt::format("The arguments cannot be read: {}", value.error().message()));
  const json::Validation found = schema.validate(*value);
  if (found.ok() || found.stopped) return {};
  return refuse_call(fmt::format("The arguments do not fit the tool's inputSchema:\n{}", found.text()));
}

Result<std::string> with_added(const ShapedTool& tool, std::string_view given, const ArgumentValues* fixed) {
  if (given.empty()) given = "{}";
  if (!json::is_object(given)) return refuse_call("The arguments must be an object.");
  std::vector<std::unique_ptr<std::string>> storage;
  const auto members = json::members_of(given, storage, kArguments);
  if (!members) return refuse_call(fmt::format("The arguments cannot be read: {}", members.error().message()));
  for (const auto& [name, value] : tool.fixed) {
    if (!members->has(name)) continue;
    return refuse_call(fmt::format("The argument {} is not overridable: the operator of the gateway has fixed it.",
                                   log::printable(name, 200)));
  }
  if (tool.arguments && given.size() <= kMostChecked) {
    if (auto checked = check_arguments(*tool.arguments, given); !checked)
      return std::unexpected(std::move(checked.error()));
  }
  std::string added;
  for (const auto& [name, value] : tool.defaults) {
    if (!members->has(name)) add_argument(added, name, value);
  }
  if (fixed != nullptr) {
    for (const auto& [name, value] : *fixed)
      add_argument(added, name, value);
  }
  json::Splice splice(given);
  json::edit_members(splice, given, *members, [](const json::Member&) { return false; }, added);
  return splice.str();
}

}  // namespace

Result<std::string> ShapedTool::complete(std::string_view given) const { return with_added(*this, given, &fixed); }

Result<std::string> ShapedTool::with_defaults(std::string_view given) const {
  return with_added(*this, given, nullptr);
}

}  // namespace proteus::catalog
