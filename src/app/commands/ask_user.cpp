#include "app/commands/ask_user.hpp"

#include <algorithm>
#include <istream>
#include <optional>
#include <ostream>

#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include "app/commands/json_text.hpp"
#include "app/commands/terminal.hpp"

namespace proteus::app {
namespace {

using Action = client::ElicitationAnswer::Action;

// Parses a line as a value of this schema. Returns nothing if it is not valid.
std::optional<boost::json::value> value_of(const std::string& line, const boost::json::object& schema) {
  const std::string type = string_at(schema, "type");
  if (const auto* choices = schema.if_contains("enum"); choices != nullptr && choices->is_array()) {
    boost::json::value wanted(line);
    const auto& all = choices->get_array();
    if (std::ranges::find(all, wanted) == all.end()) return std::nullopt;
    return wanted;
  }
  if (type == "boolean") {
    if (line == "y" || line == "yes" || line == "true") return true;
    if (line == "n" || line == "no" || line == "false") return false;
    return std::nullopt;
  }
  if (type == "string" || type.empty()) return boost::json::value(line);
  boost::system::error_code fault;
  auto value = boost::json::parse(line, fault);
  if (fault) return std::nullopt;
  if (type == "integer" && !value.is_int64()) return std::nullopt;
  if (type == "number" && !value.is_number()) return std::nullopt;
  if (type == "array" && !value.is_array()) return std::nullopt;
  return value;
}

std::string question(std::string_view name, const boost::json::object& schema) {
  std::string out = one_line(name);
  const std::string description = one_line(string_at(schema, "description"));
  if (!description.empty()) out += fmt::format(", {}", description);
  if (const auto* choices = schema.if_contains("enum")) {
    out += fmt::format(" {}", one_line(boost::json::serialize(*choices)));
  } else {
    out += fmt::format(" ({})", one_line(string_at(schema, "type")));
  }
  if (const auto* value = schema.if_contains("default"))
    out += fmt::format(" [{}]", one_line(boost::json::serialize(*value)));
  return out + ": ";
}

bool is_required(const boost::json::object& schema, std::string_view name) {
  const auto* required = schema.if_contains("required");
  if (required == nullptr || !required->is_array()) return false;
  const auto& names = required->get_array();
  return std::ranges::find(names, boost::json::value(name)) != names.end();
}

// Asks until the answer is yes or no. The end of input cancels.
Action ask_consent(std::string_view request, std::istream& in, std::ostream& out) {
  for (std::string line;;) {
    out << request << ": " << std::flush;
    if (!std::getline(in, line)) return Action::cancel;
    if (line == "y" || line == "yes") return Action::accept;
    if (line == "n" || line == "no") return Action::decline;
  }
}

}  // namespace

client::ElicitationAnswer ask_user(const client::Elicitation& elicitation, std::istream& in, std::ostream& out) {
  out << "The server asks: " << one_line(elicitation.message) << "\n";
  client::ElicitationAnswer answer{.action = ask_consent("Answer y to accept, or n to decline", in, out)};
  if (answer.action != Action::accept) return answer;
  const auto* properties = elicitation.requested_schema.if_contains("properties");
  if (properties == nullptr || !properties->is_object()) return answer;
  for (const auto& [name, property] : properties->get_object()) {
    if (!property.is_object()) continue;
    const auto& schema = property.get_object();
    for (std::string line;;) {
      out << question(name, schema) << std::flush;
      if (!std::getline(in, line)) return {.action = Action::cancel};
      const bool may_be_left = schema.contains("default") || !is_required(elicitation.requested_schema, name);
      if (line.empty() && may_be_left) break;
      if (auto value = line.empty() ? std::nullopt : value_of(line, schema)) {
        answer.content.emplace(name, std::move(*value));
        break;
      }
      out << "That is not a valid value.\n";
    }
  }
  return answer;
}

client::ElicitationAnswer ask_to_open(const client::Elicitation& elicitation, std::istream& in, std::ostream& out) {
  out << "The server asks: " << one_line(elicitation.message) << "\nIt wants you to open: " << one_line(elicitation.url)
      << "\n";
  return {.action = ask_consent("Open it yourself and answer y, or n to decline", in, out)};
}

}  // namespace proteus::app
