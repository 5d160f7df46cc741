#include "search/embeddings.hpp"

#include <algorithm>
#include <optional>

#include <boost/json.hpp>
#include <fmt/format.h>

#include "json/text.hpp"
#include "search/tool_text.hpp"

namespace proteus::search {
namespace {

std::unexpected<Error> wrong(std::string_view why) {
  return std::unexpected(errors::protocol(fmt::format("the embedding endpoint's answer {}", why)));
}

// Empty where one is not a number.
std::vector<float> components_of(const boost::json::array& array) {
  std::vector<float> components;
  components.reserve(array.size());
  for (const auto& value : array) {
    if (!value.is_number()) return {};
    components.push_back(value.to_number<float>());
  }
  return components;
}

}  // namespace

std::string embeddings_request(std::string_view model, std::span<const std::string> texts) {
  std::string request = R"({"model":)";
  json::append_quoted(request, model);
  request += R"(,"input":[)";
  for (const std::string& text : texts) {
    if (&text != texts.data()) request.push_back(',');
    json::append_quoted(request, text);
  }
  return request + "]}";
}

Result<std::vector<Vector>> read_embeddings(std::string_view answer, std::size_t texts, std::size_t components) {
  const auto read = json::parse(answer, 8);
  if (!read || !read->is_object()) return wrong("is not a JSON object");
  const auto* const data = read->as_object().if_contains("data");
  if (data == nullptr || !data->is_array()) return wrong("has no list of embeddings");
  if (data->as_array().size() != texts) {
    return wrong(fmt::format("has {} embeddings for {} texts", data->as_array().size(), texts));
  }
  std::vector<std::optional<Vector>> found(texts);
  for (std::size_t i = 0; i < texts; ++i) {
    const auto& entry = data->as_array()[i];
    const auto* const embedding = entry.is_object() ? entry.as_object().if_contains("embedding") : nullptr;
    if (embedding == nullptr || !embedding->is_array()) return wrong("has an embedding that is not a list");
    // In order where it does not say.
    const auto* const place = entry.as_object().if_contains("index");
    const std::int64_t index = place != nullptr && place->is_int64() ? place->as_int64() : static_cast<std::int64_t>(i);
    if (index < 0 || static_cast<std::size_t>(index) >= texts) return wrong("has an embedding of no text");
    auto& vector = found[static_cast<std::size_t>(index)];
    if (vector) return wrong("has two embeddings of one text");
    auto made = Vector::of(components_of(embedding->as_array()));
    if (!made) return std::unexpected(std::move(made).error().within("the embedding endpoint"));
    if (components == 0) components = made->size();
    if (made->size() != components) {
      return wrong(fmt::format("has embeddings of {} components where others have {}", made->size(), components));
    }
    vector = std::move(*made);
  }
  std::vector<Vector> vectors;
  vectors.reserve(texts);
  for (auto& vector : found)
    vectors.push_back(std::move(*vector));
  return vectors;
}

std::string embedded_text(std::string_view upstream, const catalog::DefinitionList& list,
                          const catalog::Definition& tool) {
  const ToolText text = text_of(list, tool);
  return fmt::format("{}: {}\n{}{}{}\nParameters: {}", upstream, text.name, text.title, text.title.empty() ? "" : "\n",
                     text.description, text.parameters);
}

json::Digest embedding_key(std::string_view model, std::string_view text) {
  return json::sha256(fmt::format("{}\n{}", model, text));
}

}  // namespace proteus::search
