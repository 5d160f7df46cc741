// The value types of the public API.
#include <boost/json/serialize.hpp>
#include <proteus/server.hpp>

namespace proteus::server {

Content Content::text(std::string_view text) { return Content({{"type", "text"}, {"text", text}}); }

Content Content::image(std::string_view base64, std::string_view mime_type) {
  return Content({{"type", "image"}, {"data", base64}, {"mimeType", mime_type}});
}

Content Content::audio(std::string_view base64, std::string_view mime_type) {
  return Content({{"type", "audio"}, {"data", base64}, {"mimeType", mime_type}});
}

Content Content::embedded_text(std::string_view uri, std::string_view mime_type, std::string_view text) {
  return Content({{"type", "resource"}, {"resource", {{"uri", uri}, {"mimeType", mime_type}, {"text", text}}}});
}

Content Content::embedded_blob(std::string_view uri, std::string_view mime_type, std::string_view base64) {
  return Content({{"type", "resource"}, {"resource", {{"uri", uri}, {"mimeType", mime_type}, {"blob", base64}}}});
}

Content Content::link(std::string_view uri, std::string_view name) {
  return Content({{"type", "resource_link"}, {"uri", uri}, {"name", name}});
}

ToolResult ToolResult::text(std::string_view text) { return {.content = {Content::text(text)}}; }

ToolResult ToolResult::error(std::string_view text) { return {.content = {Content::text(text)}, .is_error = true}; }

ToolResult ToolResult::json(boost::json::value value) {
  ToolResult result = text(boost::json::serialize(value));
  result.structured = std::move(value);
  return result;
}

Ask& Ask::elicit(std::string key, std::string_view message, boost::json::object schema) {
  questions_.push_back(
      {std::move(key), Kind::elicitation, {{"message", message}, {"requestedSchema", std::move(schema)}}});
  return *this;
}

Ask& Ask::elicit_url(std::string key, std::string_view message, std::string_view url) {
  questions_.push_back({std::move(key), Kind::elicitation, {{"mode", "url"}, {"message", message}, {"url", url}}});
  return *this;
}

Ask& Ask::sample(std::string key, boost::json::object params) {
  questions_.push_back({std::move(key), Kind::sampling, std::move(params)});
  return *this;
}

Ask& Ask::roots(std::string key) {
  questions_.push_back({std::move(key), Kind::roots, {}});
  return *this;
}

Ask& Ask::remember(std::string state) {
  state_ = std::move(state);
  return *this;
}

}  // namespace proteus::server
