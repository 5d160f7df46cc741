#include "server/api/registry.hpp"

#include <algorithm>
#include <iterator>

#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include "base/log/log.hpp"
#include "base/text/base64.hpp"
#include "json/text.hpp"
#include "mcp/errors.hpp"

namespace proteus::server {
namespace {

constexpr std::size_t kMaxToolName = 128;

// SEP-986: letters, digits, underscore, hyphen and dot (and the slash some servers use for grouping).
bool is_tool_name(std::string_view name) {
  return !name.empty() && name.size() <= kMaxToolName && std::ranges::all_of(name, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '-' ||
           c == '.' || c == '/';
  });
}

void put_text(boost::json::object& object, std::string_view key, const std::string& text) {
  if (!text.empty()) object[key] = text;
}

Listed listed(const boost::json::object& object) {
  std::string text = boost::json::serialize(object);
  return {text, text};
}

template <class Definition>
boost::json::object described(const Definition& definition) {
  boost::json::object object;
  object["name"] = definition.name;
  put_text(object, "title", definition.title);
  put_text(object, "description", definition.description);
  return object;
}

void add_more(boost::json::object& object, const boost::json::object& more) {
  for (const auto& [key, value] : more)
    object.insert_or_assign(key, value);
}

bool is_object_schema(const boost::json::object& schema) {
  const auto* type = schema.if_contains("type");
  return type != nullptr && type->is_string() && type->get_string() == "object";
}

}  // namespace

bool shows(const Visibility& visible, const Context& context) {
  if (!visible) return true;
  try {
    return visible(context);
  } catch (const std::exception& error) {
    log::error("the predicate `visible` of a definition threw: {}", error.what());
  } catch (...) {
    log::error("a visibility threw something that is no exception");
  }
  return false;
}

template <class Entry>
Offer<Entry>::Offer(Map entries)
    : entries_(std::move(entries)),
      differs_(std::ranges::any_of(entries_, [](const auto& entry) { return bool(entry.second->visible); })) {}

template <class Entry>
std::shared_ptr<const Entry> Offer<Entry>::find(std::string_view name) const {
  const auto found = entries_.find(name);
  return found == entries_.end() ? nullptr : found->second;
}

template <class Entry>
Result<mcp::Payload> Offer<Entry>::page(std::string_view member, std::optional<std::string_view> cursor,
                                        std::size_t size, mcp::Era era, const Context& context) const {
  const auto text_of = [&](const Entry& entry) -> const std::string& {
    return era == mcp::Era::modern ? entry.listed.modern : entry.listed.legacy;
  };
  auto at = entries_.begin();
  if (cursor) {
    const auto name = base64_decode(*cursor, Base64::url);
    if (!name) return std::unexpected(mcp::errors::invalid_params("params.cursor is not a cursor of this server"));
    at = entries_.upper_bound(*name);
  }
  const bool whole = !cursor && !differs_ && entries_.size() <= size;
  auto& kept = whole_[era == mcp::Era::modern ? 1 : 0];
  if (whole) {
    const std::scoped_lock lock(mutex_);
    if (kept) {
      mcp::Payload payload;
      payload.add(kept);
      return payload;
    }
  }

  std::string text = fmt::format(R"("{}":[)", member);
  const auto skip_hidden = [&] {
    while (at != entries_.end() && !shows(at->second->visible, context))
      ++at;
  };
  std::string_view last;
  skip_hidden();
  for (std::size_t count = 0; count < size && at != entries_.end(); ++count) {
    if (count > 0) text += ',';
    text += text_of(*at->second);
    last = at->first;
    ++at;
    skip_hidden();
  }
  text += ']';
  if (at != entries_.end()) {
    fmt::format_to(std::back_inserter(text), R"(,"nextCursor":"{}")", base64_encode(last, Base64::url));
  }
  mcp::Payload payload;
  if (!whole) {
    payload.add(std::move(text));
    return payload;
  }
  auto shared = std::make_shared<const std::string>(std::move(text));
  payload.add(shared);
  const std::scoped_lock lock(mutex_);
  kept = std::move(shared);
  return payload;
}

template <class Entry>
std::shared_ptr<const Offer<Entry>> Registry<Entry>::current() const {
  const std::scoped_lock lock(mutex_);
  return current_;
}

template <class Entry>
std::shared_ptr<const Entry> Registry<Entry>::find(std::string_view name) const {
  const std::scoped_lock lock(mutex_);
  return current_->find(name);
}

template <class Entry>
void Registry<Entry>::put(std::string name, std::shared_ptr<const Entry> entry) {
  const std::scoped_lock lock(mutex_);
  auto entries = current_->entries();
  entries.insert_or_assign(std::move(name), std::move(entry));
  current_ = std::make_shared<Offer<Entry>>(std::move(entries));
  used_ = true;
}

template <class Entry>
bool Registry<Entry>::remove(std::string_view name) {
  const std::scoped_lock lock(mutex_);
  auto entries = current_->entries();
  const auto found = entries.find(name);
  if (found == entries.end()) return false;
  entries.erase(found);
  current_ = std::make_shared<Offer<Entry>>(std::move(entries));
  return true;
}

template <class Entry>
bool Registry<Entry>::used() const {
  const std::scoped_lock lock(mutex_);
  return used_;
}

template class Offer<ToolEntry>;
template class Offer<PromptEntry>;
template class Offer<ResourceEntry>;
template class Offer<TemplateEntry>;
template class Registry<ToolEntry>;
template class Registry<PromptEntry>;
template class Registry<ResourceEntry>;
template class Registry<TemplateEntry>;

Result<ToolEntry> make_tool(const Tool& tool) {
  if (!is_tool_name(tool.name)) {
    return std::unexpected(
        errors::invalid(fmt::format("the tool name {} must be 1 to {} letters, digits, '_', '-', '.' or '/'",
                                    json::quote(tool.name), kMaxToolName)));
  }
  if (!is_object_schema(tool.input_schema)) {
    return std::unexpected(errors::invalid(fmt::format("the input schema of {} must have type \"object\"", tool.name)));
  }
  ToolEntry entry;
  entry.visible = tool.visible;
  auto input = json::Schema::compile(tool.input_schema);
  if (!input) return std::unexpected(std::move(input.error()).within("the input schema of " + tool.name));
  entry.input = std::move(*input);
  auto mirrored = mcp::mirrored_parameters(tool.input_schema);
  if (!mirrored) return std::unexpected(std::move(mirrored.error()).within("the input schema of " + tool.name));
  entry.mirrored = std::move(*mirrored);

  boost::json::object object = described(tool);
  object["inputSchema"] = tool.input_schema;
  if (!tool.annotations.empty()) object["annotations"] = tool.annotations;
  add_more(object, tool.more);
  entry.listed.legacy = boost::json::serialize(object);
  if (tool.output_schema) {
    auto output = json::Schema::compile(*tool.output_schema);
    if (!output) return std::unexpected(std::move(output.error()).within("the output schema of " + tool.name));
    entry.output = std::move(*output);
    object["outputSchema"] = *tool.output_schema;
    if (is_object_schema(*tool.output_schema)) entry.listed.legacy = boost::json::serialize(object);
  }
  entry.listed.modern = boost::json::serialize(object);
  return entry;
}

PromptEntry make_prompt(const Prompt& prompt) {
  boost::json::object object = described(prompt);
  PromptEntry entry;
  entry.visible = prompt.visible;
  if (!prompt.arguments.empty()) {
    boost::json::array arguments;
    for (const auto& argument : prompt.arguments) {
      boost::json::object described_argument{{"name", argument.name}};
      put_text(described_argument, "description", argument.description);
      if (argument.required) {
        described_argument["required"] = true;
        entry.required.push_back(argument.name);
      }
      arguments.push_back(std::move(described_argument));
    }
    object["arguments"] = std::move(arguments);
  }
  add_more(object, prompt.more);
  entry.listed = listed(object);
  return entry;
}

ResourceEntry make_resource(const Resource& resource) {
  boost::json::object object = described(resource);
  object["uri"] = resource.uri;
  put_text(object, "mimeType", resource.mime_type);
  add_more(object, resource.more);
  return {listed(object), resource.visible, {}};
}

Result<TemplateEntry> make_template(const ResourceTemplate& resource_template) {
  auto uri = UriTemplate::parse(resource_template.uri_template);
  if (!uri) return std::unexpected(uri.error());
  boost::json::object object = described(resource_template);
  object["uriTemplate"] = resource_template.uri_template;
  put_text(object, "mimeType", resource_template.mime_type);
  add_more(object, resource_template.more);
  return TemplateEntry{listed(object), resource_template.visible, std::move(*uri), {}};
}

}  // namespace proteus::server
