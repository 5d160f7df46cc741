#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <proteus/server_async.hpp>

#include "json/schema/schema.hpp"
#include "mcp/headers.hpp"
#include "mcp/reply.hpp"
#include "server/api/uri_template.hpp"

namespace proteus::server {

// A definition as it is listed in each era. Legacy clients accept only objects as structured content, so an output
// schema of any other type is left out for them.
struct Listed {
  std::string modern;
  std::string legacy;
};

struct ToolEntry {
  Listed listed;
  Visibility visible;
  std::variant<ToolHandler, RawToolHandler, AsyncHandler<ToolResult>> handler;
  std::shared_ptr<const json::Schema> input;
  std::shared_ptr<const json::Schema> output;  // may be null
  std::vector<mcp::MirroredParameter> mirrored;
};

struct PromptEntry {
  Listed listed;
  Visibility visible;
  std::variant<PromptHandler, AsyncHandler<PromptResult>> handler;
  std::vector<std::string> required;
};

using AnyResourceHandler = std::variant<ResourceHandler, AsyncHandler<ResourceResult>>;

struct ResourceEntry {
  Listed listed;
  Visibility visible;
  AnyResourceHandler handler;
};

struct TemplateEntry {
  Listed listed;
  Visibility visible;
  UriTemplate uri;
  AnyResourceHandler handler;
};

// Whether a request may see a definition with this Visibility. Returns false if `visible` throws.
bool shows(const Visibility& visible, const Context& context);

// The definitions of one kind at one moment, by name. Immutable, except that it caches the text of whole lists.
// Thread-safe.
template <class Entry>
class Offer {
 public:
  using Map = std::map<std::string, std::shared_ptr<const Entry>, std::less<>>;

  Offer() = default;
  explicit Offer(Map entries);

  const Map& entries() const { return entries_; }
  // Whether different requests may see different definitions.
  bool differs() const { return differs_; }
  std::shared_ptr<const Entry> find(std::string_view name) const;

  // Returns the members of a list result: `"tools":[…]` with what the request may see, and the cursor of the next page.
  // A cursor names the last entry before its page, so that entries may be added and removed between pages. Fails if the
  // cursor is malformed.
  Result<mcp::Payload> page(std::string_view member, std::optional<std::string_view> cursor, std::size_t size,
                            mcp::Era era, const Context& context) const;

 private:
  Map entries_;
  bool differs_ = false;
  mutable std::mutex mutex_;
  mutable std::shared_ptr<const std::string> whole_[2];  // by era
};

// The current Offer. A change replaces it, and readers keep the one that they started with. Thread-safe.
template <class Entry>
class Registry {
 public:
  std::shared_ptr<const Offer<Entry>> current() const;
  std::shared_ptr<const Entry> find(std::string_view name) const;
  void put(std::string name, std::shared_ptr<const Entry> entry);
  bool remove(std::string_view name);
  // Whether there ever was an entry.
  bool used() const;

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const Offer<Entry>> current_ = std::make_shared<Offer<Entry>>();
  bool used_ = false;
};

Result<ToolEntry> make_tool(const Tool& tool);
PromptEntry make_prompt(const Prompt& prompt);
ResourceEntry make_resource(const Resource& resource);
Result<TemplateEntry> make_template(const ResourceTemplate& resource_template);

}  // namespace proteus::server
