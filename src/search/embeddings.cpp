#include "search/embeddings.hpp"

#include <cstring>
#include <memory>
#include <optional>
#include <tuple>

#include <boost/json.hpp>
#include <fmt/format.h>

#include "base/text/base64.hpp"
#include "json/text.hpp"
#include "search/tool_text.hpp"

namespace proteus::search {
namespace {

std::unexpected<Error> wrong(std::string_view why) {
  return std::unexpected(errors::protocol(fmt::format("the embedding endpoint's answer {}", why)));
}

// Returns nothing if a component is not a number.
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
    // Without an index, embeddings have the order of the texts.
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

std::size_t packed_size(const KeyedVector& vector) { return vector.key.size() + 2 + vector.vector->bytes().size(); }

std::string pack(std::span<const KeyedVector> vectors) {
  std::string bytes;
  for (const KeyedVector& one : vectors) {
    bytes.append(reinterpret_cast<const char*>(one.key.data()), one.key.size());
    const std::size_t size = one.vector->size();
    bytes.push_back(static_cast<char>(size & 0xFFU));
    bytes.push_back(static_cast<char>(size >> 8U));
    bytes += one.vector->bytes();
  }
  return base64_encode(bytes);
}

std::vector<KeyedVector> unpack(std::string_view text) {
  std::vector<KeyedVector> vectors;
  const std::string bytes = base64_decode(text).value_or("");
  std::string_view rest = bytes;
  constexpr std::size_t kHead = std::tuple_size_v<json::Digest> + 2;
  while (rest.size() > kHead) {
    KeyedVector one{};
    std::memcpy(one.key.data(), rest.data(), one.key.size());
    const auto byte = [&](std::size_t at) { return static_cast<std::size_t>(static_cast<unsigned char>(rest[at])); };
    const std::size_t size = byte(kHead - 2) | (byte(kHead - 1) << 8U);
    rest.remove_prefix(kHead);
    auto vector = Vector::from_bytes(rest.substr(0, size));
    if (!vector || vector->size() != size) break;
    one.vector = std::make_shared<const Vector>(std::move(*vector));
    vectors.push_back(std::move(one));
    rest.remove_prefix(size);
  }
  return vectors;
}

// No upstream's name has a colon.
std::string vectors_key(std::string_view upstream, std::size_t part) {
  return part == 0 ? fmt::format("search vectors of {}", upstream)
                   : fmt::format("search vectors of {}:{}", upstream, part);
}

}  // namespace proteus::search
