#include "providers/http_tool/arguments.hpp"

#include <algorithm>

#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include "base/log.hpp"
#include "json/text.hpp"

namespace proteus::providers {
namespace {

using boost::json::object;
using boost::json::value;

std::string pointer_to(std::string_view key) {
  std::string pointer = "/";
  for (const char c : key) {
    if (c == '~') {
      pointer += "~0";
    } else if (c == '/') {
      pointer += "~1";
    } else {
      pointer += c;
    }
  }
  return pointer;
}

bool has_null(const object& arguments) {
  return std::ranges::any_of(arguments, [](const auto& member) { return member.value().is_null(); });
}

// Takes out what is null where the schema says that it may not be. A few rounds, because a validation lists a bounded
// number of errors.
bool leave_nulls_out(value& arguments, const json::Schema& schema) {
  bool any = false;
  for (;;) {
    const auto validation = schema.validate(arguments);
    object& members = arguments.get_object();
    const std::size_t before = members.size();
    for (auto member = members.begin(); member != members.end();) {
      const std::string pointer = pointer_to(member->key());
      const bool refused = member->value().is_null() && std::ranges::any_of(validation.errors, [&](const auto& error) {
                             return error.instance_path == pointer;
                           });
      member = refused ? members.erase(member) : std::next(member);
    }
    if (members.size() == before) return any;
    any = true;
  }
}

std::string_view trimmed_inside(std::string_view raw) {
  constexpr std::string_view kSpace = " \n\t\r";
  raw = raw.substr(1, raw.size() - 2);
  const auto begin = std::min(raw.find_first_not_of(kSpace), raw.size());
  return raw.substr(begin, raw.find_last_not_of(kSpace) + 1 - begin);
}

}  // namespace

std::expected<CheckedArguments, std::string> CheckedArguments::check(const HttpTool& tool, std::string_view raw) {
  CheckedArguments checked;
  auto parsed = json::parse(raw.empty() ? "{}" : raw);
  if (!parsed) return std::unexpected(fmt::format("Invalid arguments: {}", parsed.error().message()));
  if (!parsed->is_object()) return std::unexpected("Invalid arguments: they must be an object");
  for (const std::string& name : tool.reserved) {
    // In the words the schema has for what it does not know: what is fixed is nobody's business.
    if (parsed->get_object().contains(name))
      return std::unexpected(
          fmt::format("Invalid arguments:\n/: property \"{}\" is not allowed", log::printable(name, 128)));
  }
  const bool left_out = has_null(parsed->get_object()) && leave_nulls_out(*parsed, *tool.input);
  if (!tool.input->accepts(*parsed)) {
    return std::unexpected("Invalid arguments:\n" + tool.input->validate(*parsed).text());
  }
  if (left_out && !parsed->get_object().empty()) {
    checked.owned_ = boost::json::serialize(*parsed);
    checked.owned_ = checked.owned_.substr(1, checked.owned_.size() - 2);
  } else if (!left_out && !raw.empty()) {
    checked.raw_ = trimmed_inside(raw);
  }
  return checked;
}

}  // namespace proteus::providers
