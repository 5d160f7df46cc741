#include "json/schema/explain.hpp"

#include <algorithm>
#include <array>
#include <unordered_set>
#include <utility>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include "base/settings/nearest.hpp"
#include "base/text/utf8.hpp"

namespace proteus::json::schema::explain {
namespace {

constexpr std::size_t kListed = 20;
constexpr std::size_t kNameBytes = 100;
constexpr std::size_t kBranchBytes = 300;
constexpr std::size_t kKnownNodes = 64;
constexpr std::size_t kCompared = 64;

void write_string(std::string& out, std::string_view string, std::size_t limit) {
  const std::string_view kept = cut_text(string, limit);
  out.push_back('"');
  for (const char c : kept) {
    if (c == '"' || c == '\\') {
      out.push_back('\\');
      out.push_back(c);
    } else if (c == '\n') {
      out += "\\n";
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned>(static_cast<unsigned char>(c)));
    } else {
      out.push_back(c);
    }
  }
  if (kept.size() < string.size()) out += "…";
  out.push_back('"');
}

// Stops once `limit` bytes are written, so the depth and size of the value do not matter.
void write(std::string& out, const boost::json::value& value, std::size_t limit) {
  if (out.size() >= limit) return;
  if (const auto number = as_number(value)) {
    out += shown(*number);
  } else if (const auto* string = value.if_string()) {
    write_string(out, *string, limit - out.size());
  } else if (const auto* array = value.if_array()) {
    out.push_back('[');
    for (std::size_t i = 0; i < array->size() && out.size() < limit; ++i) {
      if (i != 0) out += ", ";
      write(out, (*array)[i], limit);
    }
    out.push_back(']');
  } else if (const auto* object = value.if_object()) {
    out.push_back('{');
    bool first = true;
    for (const auto& member : *object) {
      if (out.size() >= limit) break;
      if (!std::exchange(first, false)) out += ", ";
      write_string(out, member.key(), limit - std::min(limit, out.size()));
      out += ": ";
      write(out, member.value(), limit);
    }
    out.push_back('}');
  } else {
    out += value.is_null() ? "null" : value.get_bool() ? "true" : "false";
  }
}

std::string_view with_article(Type type) {
  switch (type) {
    case Type::null: return "null";
    case Type::boolean: return "a boolean";
    case Type::object: return "an object";
    case Type::array: return "an array";
    case Type::number: return "a number";
    case Type::string: return "a string";
    case Type::integer: return "an integer";
  }
  return "";
}

std::string listed(TypeSet types) {
  std::vector<std::string_view> names;
  for (const Type type :
       {Type::string, Type::integer, Type::number, Type::boolean, Type::array, Type::object, Type::null}) {
    if (types.has(type)) names.push_back(with_article(type));
  }
  std::string list(names.front());
  for (std::size_t i = 1; i < names.size(); ++i) {
    list.append(i + 1 == names.size() ? " or " : ", ").append(names[i]);
  }
  return list;
}

std::string described(const boost::json::value& value) {
  if (value.is_string()) return "the string " + compact(value);
  if (value.is_object()) return value.get_object().empty() ? "an empty object" : "an object";
  if (value.is_array()) return value.get_array().empty() ? "an empty array" : "an array";
  if (value.is_number()) return "the number " + compact(value);
  return compact(value);
}

std::string_view unit(Type counted, std::uint64_t count) {
  const bool one = count == 1;
  if (counted == Type::string) return one ? "character" : "characters";
  if (counted == Type::array) return one ? "item" : "items";
  return one ? "property" : "properties";
}

}  // namespace

std::string compact(const boost::json::value& value, std::size_t limit) {
  std::string out;
  write(out, value, limit);
  return out.size() < limit || value.is_string() ? out : shortened(out, limit);
}

std::string shortened(std::string_view text, std::size_t limit) {
  return std::string(cut_text(text, limit)) + (text.size() > limit ? "…" : "");
}

std::string quoted(std::string_view text, std::size_t limit) {
  std::string out;
  write_string(out, text, limit);
  return out;
}

std::string shown(const Number& number) {
  return std::visit([](auto value) { return fmt::to_string(value); }, number);
}

std::string wrong_type(TypeSet allowed, const boost::json::value& instance) {
  return fmt::format("must be {}, not {}", listed(allowed), described(instance));
}

std::string wrong_value(const ValuesRule& rule, const boost::json::value& instance) {
  if (rule.values.empty()) return "has no allowed value";
  if (rule.values.size() == 1)
    return fmt::format("must be {}, not {}", compact(rule.values.front()), described(instance));
  std::string list;
  std::vector<std::string_view> strings;
  for (const auto& value : rule.values) {
    if (strings.size() == kCompared) break;
    if (const auto* string = value.if_string()) strings.push_back(*string);
  }
  const std::size_t listed = std::min(rule.values.size(), kListed);
  for (std::size_t i = 0; i < listed; ++i) {
    if (i != 0) list += ", ";
    list += compact(rule.values[i]);
  }
  if (listed < rule.values.size()) list += fmt::format(" and {} more", rule.values.size() - listed);
  std::string message = fmt::format("must be one of {}, not {}", list, described(instance));
  if (const auto* string = instance.if_string()) {
    if (const auto meant = nearest(*string, strings); !meant.empty()) {
      message += fmt::format("; did you mean {}?", quoted(meant));
    }
  }
  return message;
}

std::string out_of_bounds(const BoundRule& rule, const Number& instance) {
  constexpr std::array<std::string_view, 4> kWords = {"at least", "greater than", "at most", "less than"};
  return fmt::format("must be {} {}, not {}", kWords[static_cast<std::size_t>(rule.relation)], shown(rule.limit),
                     shown(instance));
}

std::string not_a_multiple(const MultipleRule& rule, const Number& instance) {
  return fmt::format("must be a multiple of {}, not {}", shown(rule.divisor), shown(instance));
}

std::string wrong_count(const CountRule& rule, std::uint64_t count) {
  return fmt::format("must have {} {} {}, not {}", rule.relation == Relation::at_least ? "at least" : "at most",
                     rule.limit, unit(rule.counted, rule.limit), count);
}

std::string no_match(const Pattern& pattern, std::string_view instance) {
  return fmt::format("must match the pattern {}, not be {}", shortened(pattern.text(), 200), quoted(instance));
}

std::string unknown_property(std::string_view name, std::span<const std::string_view> known,
                             const boost::json::object& present) {
  std::string message = fmt::format("property {} is not allowed", quoted(name, kNameBytes));
  if (known.empty()) return message;
  std::vector<std::string_view> absent;
  for (const std::string_view candidate : known.first(std::min(known.size(), kCompared))) {
    if (!present.contains(candidate)) absent.push_back(candidate);
  }
  const auto meant = nearest(name, absent);
  if (!meant.empty()) message += fmt::format("; did you mean {}?", quoted(meant, kNameBytes));
  message += meant.empty() ? "; allowed: " : " allowed: ";
  const std::size_t listed = std::min(known.size(), kListed);
  for (std::size_t i = 0; i < listed; ++i) {
    if (i != 0) message += ", ";
    message += shortened(known[i], kNameBytes);
  }
  if (listed < known.size()) message += fmt::format(" and {} more", known.size() - listed);
  return message;
}

std::vector<std::string_view> known_properties(const Program& program, NodeId node) {
  std::vector<std::string_view> names;
  std::unordered_set<std::string_view> listed;
  std::unordered_set<NodeId> visited{node};
  std::vector<NodeId> pending{node};
  for (std::size_t i = 0; i < pending.size() && i < kKnownNodes; ++i) {
    const Node& at = program.nodes[pending[i]];
    for (const Rule& rule : at.rules) {
      if (const auto* properties = std::get_if<PropertiesRule>(&rule)) {
        for (const std::uint32_t position : properties->written) {
          const auto& [name, schema] = properties->named[position];
          if (!program.nodes[schema].never && listed.insert(name).second) names.emplace_back(name);
        }
      }
    }
    for_each_in_place(at, [&](NodeId next) {
      if (visited.insert(next).second) pending.push_back(next);
    });
  }
  return names;
}

std::string negated(const Node& node) {
  if (node.rules.size() == 1) {
    if (const auto* values = std::get_if<ValuesRule>(&node.rules.front()); values && values->values.size() == 1) {
      return fmt::format("must not be {}", compact(values->values.front()));
    }
    if (const auto* required = std::get_if<RequiredRule>(&node.rules.front());
        required && required->names.size() == 1) {
      return fmt::format("must not have the property {}", quoted(required->names.front(), kNameBytes));
    }
    if (const auto* type = std::get_if<TypeRule>(&node.rules.front())) {
      return fmt::format("must not be {}", listed(type->allowed));
    }
  }
  return "has a form that is not allowed here";
}

std::string no_branch(std::span<const std::vector<SchemaError>> branches, std::size_t count, std::string_view path) {
  std::string message = fmt::format("matches none of the {} allowed forms", count);
  for (std::size_t i = 0; i < branches.size(); ++i) {
    std::string wanted;
    for (const SchemaError& error : branches[i]) {
      if (!wanted.empty()) wanted += ", and ";
      const auto below =
          std::string_view(error.instance_path).substr(std::min(path.size(), error.instance_path.size()));
      if (!below.empty()) wanted.append(shortened(below, kNameBytes)).append(" ");
      wanted += error.message;
    }
    message += fmt::format("; form {}: {}", i + 1, shortened(wanted, kBranchBytes));
  }
  if (branches.size() < count) message += fmt::format("; and {} more forms", count - branches.size());
  return message;
}

}  // namespace proteus::json::schema::explain
