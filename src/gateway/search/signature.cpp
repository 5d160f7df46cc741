#include "gateway/search/signature.hpp"

#include <algorithm>
#include <unordered_set>
#include <vector>

#include <boost/json/serialize.hpp>

#include "base/text/utf8.hpp"
#include "base/text/visible_text.hpp"

namespace proteus::gateway {
namespace {

using boost::json::array;
using boost::json::object;
using boost::json::value;

constexpr std::string_view kMore = "…";
constexpr std::size_t kMostDepth = 3;        // of objects in objects
constexpr std::size_t kMostReferences = 8;   // that follow each other
constexpr std::size_t kMostValues = 12;      // of an enumeration
constexpr std::size_t kMostValueBytes = 40;  // of one value
constexpr std::size_t kMostTypeBytes = 160;  // of one parameter
constexpr std::size_t kMostNameBytes = 64;   // of one parameter's name
constexpr std::size_t kMostBytes = 800;      // of all parameters
constexpr std::size_t kMostSteps = 20'000;   // references may lead to the same long schema repeatedly
constexpr std::size_t kMostFollowed = std::size_t{256} << 10U;  // bytes of all references that are followed

const value* member(const object& schema, std::string_view key) { return schema.if_contains(key); }

std::string shortened(std::string text, std::size_t most) {
  if (text.size() <= most) return text;
  text.resize(cut_text(text, most).size());
  return text.append(kMore);
}

std::string literal(const value& one) {
  if (one.is_object() || one.is_array()) {
    const bool empty = one.is_object() ? one.get_object().empty() : one.get_array().empty();
    return empty ? (one.is_object() ? "{}" : "[]") : std::string(kMore);
  }
  if (const auto* text = one.if_string(); text != nullptr && text->size() > 4 * kMostValueBytes)
    return std::string(kMore);
  return shortened(visible_text(boost::json::serialize(one)), kMostValueBytes);
}

// Writes the schemas of one document as types.
class Types {
 public:
  explicit Types(const value& root) : root_(root) {}

  std::string of(const value& schema, std::size_t depth = 0) const {
    return shortened(write(resolved(schema), depth), kMostTypeBytes);
  }

  const value& resolved(const value& schema) const {
    const value* at = &schema;
    for (std::size_t i = 0; i < kMostReferences; ++i) {
      const auto* const in = at->if_object();
      const auto* const reference = in == nullptr ? nullptr : member(*in, "$ref");
      if (reference == nullptr || !reference->is_string()) return *at;
      const std::string_view pointer = reference->get_string();
      if (!pointer.starts_with("#/") || (followed_ += pointer.size()) > kMostFollowed) return *at;
      boost::system::error_code missing;
      const value* const found = root_.find_pointer(pointer.substr(1), missing);
      if (found == nullptr) return *at;
      at = found;
    }
    return *at;
  }

  std::string parameters(const object& schema, std::size_t most, std::size_t depth) const {
    const auto* const properties = member(schema, "properties");
    if (properties == nullptr || !properties->is_object()) return {};
    std::string out;
    // Returns false if there is no room for the parameter.
    const auto add = [&](std::string_view name, const value& type, bool required) {
      const bool fits = out.size() < most && is_within();
      if (!out.empty()) out += ", ";
      out += fits ? parameter(name, type, required, depth) : std::string(kMore);
      return fits;
    };
    std::unordered_set<std::string_view> needed;
    if (const auto* const given = member(schema, "required"); given != nullptr && given->is_array()) {
      for (const value& one : given->get_array()) {
        const auto* const name = one.if_string();
        const auto* const type = name != nullptr ? properties->get_object().if_contains(*name) : nullptr;
        if (type == nullptr || !needed.insert(*name).second) continue;
        if (!add(*name, *type, true)) return out;
      }
    }
    for (const auto& [name, type] : properties->get_object()) {
      if (!needed.contains(name) && !add(name, type, false)) return out;
    }
    return out;
  }

 private:
  bool is_within() const { return ++steps_ <= kMostSteps; }

  std::string parameter(std::string_view name, const value& schema, bool required, std::size_t depth) const {
    std::string out = shortened(visible_text(name.substr(0, 4 * kMostNameBytes)), kMostNameBytes);
    out += required ? ": " : "?: ";
    out += of(schema, depth);
    for (const value* const at : {&schema, &resolved(schema)}) {
      const auto* const in = at->if_object();
      const auto* const otherwise = in == nullptr ? nullptr : member(*in, "default");
      if (otherwise != nullptr) return out + " = " + literal(*otherwise);
    }
    return out;
  }

  std::string write(const value& schema, std::size_t depth) const {
    const auto* const in = schema.if_object();
    if (in == nullptr) return "any";
    if (const auto* one = member(*in, "const")) return literal(*one);
    if (const auto* all = member(*in, "enum"); all != nullptr && all->is_array()) return choices(all->get_array());
    for (const char* key : {"anyOf", "oneOf"}) {
      if (const auto* any = member(*in, key); any != nullptr && any->is_array() && depth < kMostDepth)
        return united(any->get_array(), [&](const value& one) { return of(one, depth + 1); });
    }
    const auto* const type = member(*in, "type");
    if (type != nullptr && type->is_array())
      return united(type->get_array(), [&](const value& one) { return named(one, *in, depth); });
    if (type != nullptr) return named(*type, *in, depth);
    return member(*in, "properties") != nullptr ? named("object", *in, depth) : "any";
  }

  std::string named(const value& type, const object& schema, std::size_t depth) const {
    if (!type.is_string()) return "any";
    const std::string_view name = type.get_string();
    if (name == "array") {
      const auto* const items = member(schema, "items");
      if (items == nullptr || depth >= kMostDepth) return "any[]";
      const std::string of_items = of(*items, depth + 1);
      return of_items.find('|') == std::string::npos || of_items.starts_with('{') ? of_items + "[]"
                                                                                  : "(" + of_items + ")[]";
    }
    if (name != "object") return shortened(visible_text(name.substr(0, 100)), 20);
    const std::string inside = depth < kMostDepth ? parameters(schema, kMostTypeBytes, depth + 1) : std::string();
    return inside.empty() ? "object" : "{" + inside + "}";
  }

  std::string choices(const array& all) const {
    return united(all, [](const value& one) { return literal(one); });
  }

  template <class Write>
  std::string united(const array& all, Write&& write) const {
    std::string out;
    std::vector<std::string> seen;
    for (const value& one : all) {
      if (seen.size() == kMostValues || !is_within()) return out.append("|").append(kMore);
      std::string text = write(one);
      if (std::ranges::find(seen, text) != seen.end()) continue;
      if (!out.empty()) out += '|';
      out += text;
      seen.push_back(std::move(text));
    }
    return out.empty() ? "any" : out;
  }

  const value& root_;
  mutable std::size_t steps_ = 0;
  mutable std::size_t followed_ = 0;
};

// Returns the end of the sentence, in bytes; the size of the text if no sentence ends.
std::size_t sentence_end(std::string_view text, std::size_t from) {
  for (std::size_t at = from; at + 1 < text.size(); ++at) {
    if ((text[at] == '.' || text[at] == '!' || text[at] == '?') && text[at + 1] == ' ') return at + 1;
    if (text.substr(at).starts_with("。")) return at + 3;
  }
  return text.size();
}

}  // namespace

std::string signature_of(std::string_view name, const value& input_schema) {
  const Types types(input_schema);
  const value& schema = types.resolved(input_schema);
  const auto* const in = schema.if_object();
  return std::string(name) + "(" + (in == nullptr ? std::string() : types.parameters(*in, kMostBytes, 0)) + ")";
}

std::string brief(std::string_view text, std::size_t most) {
  // Ignores the rest, which would not be shown anyway.
  text = cut_text(text, 16 * most);
  std::string line;
  bool space = false;
  for (const char c : text) {
    const bool blank = static_cast<unsigned char>(c) <= ' ';
    if (!blank && space && !line.empty()) line += ' ';
    space = blank;
    if (!blank) line += c;
  }
  line = visible_text(line);
  if (line.size() <= most) return line;
  std::size_t end = sentence_end(line, 0);
  if (end > most) {
    const std::size_t cut = cut_text(line, most).size();
    std::size_t word = line.rfind(' ', cut);
    if (word == std::string::npos || word == 0) word = cut;
    line.resize(word);
    return line.append(kMore);
  }
  for (std::size_t next = sentence_end(line, end); next <= most && next > end; next = sentence_end(line, end))
    end = next;
  line.resize(end);
  return line;
}

}  // namespace proteus::gateway
