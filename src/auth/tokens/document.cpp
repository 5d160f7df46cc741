#include "auth/tokens/document.hpp"

#include <utility>

#include <fmt/format.h>

#include "json/text.hpp"
#include "net/http/url.hpp"

namespace proteus::auth {

DocumentReader::DocumentReader(boost::json::object object, std::string_view what)
    : object_(std::move(object)), what_(what) {}

Result<DocumentReader> DocumentReader::parse(std::string_view text, std::size_t limit, std::string_view what) {
  constexpr std::size_t kMaxDepth = 32;
  if (text.size() > limit) return std::unexpected(errors::too_large(what, limit));
  auto value = json::parse(text, kMaxDepth);
  if (!value || !value->is_object())
    return std::unexpected(errors::protocol(fmt::format("{} are not a JSON object without repeated keys", what)));
  return DocumentReader(std::move(value->get_object()), what);
}

const boost::json::value* DocumentReader::find(std::string_view name) const {
  const auto* value = object_.if_contains(name);
  return value == nullptr || value->is_null() ? nullptr : value;
}

Error DocumentReader::fault(std::string_view name, std::string_view expected) const {
  return errors::protocol(fmt::format("{} have a member {} that is not {}", what_, name, expected));
}

Result<> DocumentReader::text(std::string_view name, std::string& onto) const {
  const auto* value = find(name);
  if (value == nullptr) return {};
  const auto* text = value->if_string();
  if (text == nullptr || text->size() > kMaxText) return std::unexpected(fault(name, "a text of at most 8 KiB"));
  onto = *text;
  return {};
}

Result<> DocumentReader::url(std::string_view name, std::string& onto, bool needs_https) const {
  std::string given;
  if (auto read = text(name, given); !read) return read;
  if (given.empty()) return {};
  const auto url = net::Url::parse(given);
  if (!url || (needs_https && !url->is_https()))
    return std::unexpected(fault(name, needs_https ? "an https URL" : "an http or https URL"));
  onto = std::move(given);
  return {};
}

Result<> DocumentReader::texts(std::string_view name, std::vector<std::string>& onto) const {
  const auto* value = find(name);
  if (value == nullptr) return {};
  const auto* list = value->if_array();
  if (list == nullptr || list->size() > kMaxItems) return std::unexpected(fault(name, "a list of at most 1000 texts"));
  for (const auto& one : *list) {
    if (!one.is_string()) return std::unexpected(fault(name, "a list of texts"));
    onto.emplace_back(one.get_string());
  }
  return {};
}

bool DocumentReader::flag(std::string_view name) const {
  const auto* value = find(name);
  return value != nullptr && value->is_bool() && value->get_bool();
}

}  // namespace proteus::auth
