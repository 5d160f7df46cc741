#include "providers/http_tool/http_tool_reader.hpp"

#include <algorithm>
#include <array>

#include <boost/json/array.hpp>
#include <boost/json/value.hpp>
#include <fmt/format.h>

#include "base/log/log.hpp"
#include "base/settings/nearest.hpp"
#include "base/settings/units.hpp"
#include "catalog/definitions/definition_check.hpp"
#include "catalog/definitions/names.hpp"
#include "json/text.hpp"
#include "providers/http_tool/input_schema.hpp"

namespace proteus::providers {
namespace {

using boost::json::object;
using boost::json::value;

constexpr std::array<std::string_view, 8> kShown = {"name",         "title",       "description", "inputSchema",
                                                    "outputSchema", "annotations", "icons",       "_meta"};
constexpr std::array<std::string_view, 4> kHidden = {"url", "action", "fixed_params", "timeout"};
constexpr std::size_t kMaxAction = 1024;
constexpr std::size_t kMaxDepth = 100;

// Returns an object of the members with these names, as they are written.
std::string part_of(std::string_view text, std::span<const std::string_view> keys) {
  std::string out = "{";
  for (const std::string_view key : keys) {
    const std::string_view raw = json::find_member(text, key);
    if (raw.empty()) continue;
    out += fmt::format("{}\"{}\":{}", out.size() > 1 ? "," : "", key, raw);
  }
  return out + "}";
}

std::string_view inside(std::string_view object_text) { return object_text.substr(1, object_text.size() - 2); }

class Reader {
 public:
  Reader(std::string_view text, SharedSchemas& schemas, const UrlCheck& may_ask)
      : text_(text), schemas_(schemas), may_ask_(may_ask) {}

  // `given` is null if the text must still be parsed.
  std::variant<ReadTool, std::vector<ToolFault>> read(const value* given) {
    if (text_.size() > http_tool_limits::kBytes) {
      fault("", fmt::format("is larger than {} bytes", http_tool_limits::kBytes));
      return std::move(faults_);
    }
    Result<value> parsed;
    if (given == nullptr) {
      parsed = json::parse(text_, kMaxDepth);
      if (!parsed) fault("", parsed.error().message());
      given = parsed ? &*parsed : nullptr;
    }
    if (given != nullptr && !given->is_object()) fault("", "must be an object");
    if (!faults_.empty()) return std::move(faults_);
    read_members(given->get_object());
    if (!faults_.empty() || !url_) return std::move(faults_);
    auto tool = std::make_shared<const HttpTool>(HttpTool{.name = std::move(name_),
                                                          .url = std::move(*url_),
                                                          .action = action_,
                                                          .tail = tail(),
                                                          .reserved = std::move(reserved_),
                                                          .timeout = timeout_,
                                                          .confirmation = confirmation_,
                                                          .input = std::move(input_),
                                                          .output = std::move(output_)});
    return ReadTool{std::move(tool), part_of(text_, kShown), part_of(text_, kHidden)};
  }

 private:
  void fault(std::string_view pointer, std::string message) {
    faults_.push_back({log::printable(name_, catalog::kLongestToolName), std::string(pointer), std::move(message)});
  }

  const std::string* text_of(const object& tool, std::string_view key, std::string_view pointer, bool required) {
    const value* const found = tool.if_contains(key);
    if (found == nullptr && required) fault(pointer, "is missing");
    if (found != nullptr && !found->is_string()) fault(pointer, "must be a string");
    if (found == nullptr || !found->is_string()) return nullptr;
    kept_ = std::string(found->get_string());
    return &kept_;
  }

  void read_members(const object& tool) {
    read_name(tool);
    refuse_unknown(tool);
    text_of(tool, "title", "/title", false);
    text_of(tool, "description", "/description", true);
    read_url(tool);
    read_action(tool);
    read_fixed(tool);
    read_timeout(tool);
    read_hints(tool);
    read_input(tool);
    read_output(tool);
    if (faults_.empty()) {
      if (auto checked = catalog::check_definition(catalog::Kind::tool, tool); !checked)
        fault("", checked.error().message());
    }
  }

  void read_name(const object& tool) {
    const std::string* const name = text_of(tool, "name", "/name", true);
    if (name == nullptr) return;
    name_ = *name;
    const bool fits =
        !name_.empty() && name_.size() <= catalog::kLongestToolName && std::ranges::all_of(name_, [](char c) {
          return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '-' ||
                 c == '.';
        });
    if (!fits) {
      fault("/name",
            fmt::format("must be 1 to {} of A-Z, a-z, 0-9, \"_\", \"-\" and \".\"", catalog::kLongestToolName));
    }
  }

  std::string tail() const {
    if (action_.empty()) return fixed_;
    return fmt::format(R"({}{}"action":{})", fixed_, fixed_.empty() ? "" : ",", json::quote(action_));
  }

  void refuse_unknown(const object& tool) {
    std::vector<std::string_view> known(kShown.begin(), kShown.end());
    known.insert(known.end(), kHidden.begin(), kHidden.end());
    for (const auto& member : tool) {
      if (std::ranges::find(known, std::string_view(member.key())) != known.end()) continue;
      const std::string_view meant = nearest(member.key(), known);
      fault(fmt::format("/{}", log::printable(member.key(), 64)),
            meant.empty() ? "is not a known key" : fmt::format("is not a known key; did you mean {}?", meant));
    }
  }

  void read_url(const object& tool) {
    const std::string* const text = text_of(tool, "url", "/url", true);
    if (text == nullptr) return;
    auto url = net::Url::parse(*text);
    if (!url) return fault("/url", url.error().message());
    if (auto allowed = may_ask_ ? may_ask_(*url) : Result<>(); !allowed)
      return fault("/url", allowed.error().message());
    url_ = std::move(*url);
  }

  void read_action(const object& tool) {
    const std::string* const action = text_of(tool, "action", "/action", false);
    if (action == nullptr) return;
    if (action->empty()) return fault("/action", "must not be empty; omit it instead");
    if (action->size() > kMaxAction) return fault("/action", fmt::format("is longer than {} bytes", kMaxAction));
    action_ = *action;
  }

  void read_fixed(const object& tool) {
    reserved_.emplace_back("action");
    const value* const fixed = tool.if_contains("fixed_params");
    if (fixed == nullptr) return;
    if (!fixed->is_object()) return fault("/fixed_params", "must be an object");
    const object& members = fixed->get_object();
    if (members.size() > http_tool_limits::kFixedParams)
      return fault("/fixed_params", fmt::format("has more than {} members", http_tool_limits::kFixedParams));
    if (members.contains("action")) return fault("/fixed_params/action", "belongs into action, beside fixed_params");
    reserved_.reserve(members.size() + 1);
    for (const auto& member : members)
      reserved_.emplace_back(member.key());
    if (!members.empty() && faults_.empty()) fixed_ = inside(json::find_member(text_, "fixed_params"));
  }

  void read_timeout(const object& tool) {
    const value* const given = tool.if_contains("timeout");
    if (given == nullptr) return;
    std::optional<std::chrono::milliseconds> timeout;
    if (given->is_string()) {
      if (const auto parsed = parse_duration(given->get_string())) timeout = *parsed;
    } else if (given->is_number()) {
      const double seconds = given->to_number<double>();
      if (seconds > 0 && seconds <= 1e6) timeout = std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000));
    }
    if (!timeout || timeout->count() <= 0 || *timeout > http_tool_limits::kTimeout)
      return fault("/timeout", "must be a number of seconds, or a text such as \"20s\", above zero and at most 10m");
    timeout_ = timeout;
  }

  void read_hints(const object& tool) {
    const value* const annotations = tool.if_contains("annotations");
    if (annotations == nullptr) return;
    if (!annotations->is_object()) return fault("/annotations", "must be an object");
    const auto hint = [&](std::string_view key) {
      const value* const found = annotations->get_object().if_contains(key);
      if (found == nullptr) return false;
      if (!found->is_bool()) fault(fmt::format("/annotations/{}", key), "must be true or false");
      return found->is_bool() && found->get_bool();
    };
    const bool destructive = hint("destructiveHint");
    const bool read_only = hint("readOnlyHint");
    hint("idempotentHint");
    hint("openWorldHint");
    if (destructive && !read_only) confirmation_ = Confirmation::required;
  }

  void read_input(const object& tool) {
    const value* const schema = tool.if_contains("inputSchema");
    if (schema == nullptr) return fault("/inputSchema", "is missing");
    if (!schema->is_object()) return fault("/inputSchema", "must be an object");
    const object& members = schema->get_object();
    const value* const type = members.if_contains("type");
    if (type == nullptr || !type->is_string() || type->get_string() != "object")
      return fault("/inputSchema/type", "must be \"object\"");
    for (const std::string& argument : named_arguments(*schema)) {
      if (std::ranges::find(reserved_, argument) == reserved_.end()) continue;
      fault(fmt::format("/inputSchema/properties/{}", log::printable(argument, 128)),
            argument == "action" ? "is sent by the gateway, and cannot be an argument"
                                 : "is a fixed parameter, and cannot be an argument");
    }
    auto closed = schemas_.compile(closed_schema(*schema));
    if (!closed) {
      // The error must be about the schema as it was given.
      auto given = schemas_.compile(*schema);
      return fault("/inputSchema", (given ? closed : given).error().message());
    }
    input_ = std::move(*closed);
  }

  void read_output(const object& tool) {
    const value* const schema = tool.if_contains("outputSchema");
    if (schema == nullptr) return;
    if (!schema->is_object()) return fault("/outputSchema", "must be an object");
    const value* const type = schema->get_object().if_contains("type");
    if (type == nullptr || !type->is_string() || type->get_string() != "object")
      return fault("/outputSchema/type", "must be \"object\"");
    auto compiled = schemas_.compile(*schema);
    if (!compiled) return fault("/outputSchema", compiled.error().message());
    output_ = std::move(*compiled);
  }

  std::string_view text_;
  SharedSchemas& schemas_;
  const UrlCheck& may_ask_;
  std::vector<ToolFault> faults_;
  std::string kept_;

  std::string name_;
  std::optional<net::Url> url_;
  std::string action_;
  std::string fixed_;
  std::vector<std::string> reserved_;
  std::optional<std::chrono::milliseconds> timeout_;
  Confirmation confirmation_ = Confirmation::none;
  std::shared_ptr<const json::Schema> input_;
  std::shared_ptr<const json::Schema> output_;
};

}  // namespace

std::variant<ReadTool, std::vector<ToolFault>> read_http_tool(std::string_view text, SharedSchemas& schemas,
                                                              const UrlCheck& may_ask,
                                                              const boost::json::value* parsed) {
  return Reader(text, schemas, may_ask).read(parsed);
}

std::string join_tool(std::string_view definition, std::string_view hidden) {
  return fmt::format("{{{},{}}}", inside(definition), inside(hidden));
}

}  // namespace proteus::providers
