#include "app/commands/token_output.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include "app/commands/json_text.hpp"

namespace proteus::app {
namespace {

const boost::json::object& token_in(const boost::json::value& of) {
  static const boost::json::object none;
  const auto* object = of.if_object();
  return object != nullptr ? *object : none;
}

std::string names_at(const boost::json::object& token, std::string_view key) {
  const auto* found = token.if_contains(key);
  if (found == nullptr || !found->is_array()) return {};
  std::string out;
  for (const auto& name : found->get_array()) {
    if (!name.is_string()) continue;
    const std::string shown = name.get_string().empty() ? "\"\"" : one_line(name.get_string());
    out += (out.empty() ? "" : ", ") + shown;
  }
  return out;
}

std::string cell(const boost::json::object& token, std::string_view key) { return one_line(string_at(token, key)); }

}  // namespace

std::string show_tokens(const boost::json::value& answer, const Terminal& terminal) {
  Table table({"NAME", "ORIGIN", "STATE", "EXPIRES", "LAST USED", "UPSTREAMS", "CONTEXTS"});
  const auto* all = token_in(answer).if_contains("tokens");
  if (all == nullptr || !all->is_array()) return {};
  for (const auto& one : all->get_array()) {
    const auto& token = token_in(one);
    table.add({cell(token, "name"), cell(token, "origin"), cell(token, "state"), cell(token, "expires_at"),
               cell(token, "last_used_at"), names_at(token, "upstreams"), names_at(token, "contexts")});
  }
  return table.str(terminal);
}

std::string secret_of(const boost::json::value& answer) { return cell(token_in(answer), "token"); }

std::string about_issued(const boost::json::value& answer) {
  const auto& token = token_in(answer);
  std::string out = fmt::format("This is the secret of {}, and it is not shown again.", cell(token, "name"));
  if (const std::string until = cell(token, "previous_until"); !until.empty())
    out += fmt::format(" The old one works until {}.", until);
  if (const std::string at = cell(token, "expires_at"); !at.empty()) out += fmt::format(" It expires at {}.", at);
  return out;
}

bool is_durable(const boost::json::value& answer) {
  const auto* durable = token_in(answer).if_contains("durable");
  return durable == nullptr || !durable->is_bool() || durable->get_bool();
}

}  // namespace proteus::app
