#include "gateway/bridge/questions.hpp"

#include <fmt/format.h>

#include "json/text.hpp"

namespace proteus::gateway {
namespace {

constexpr std::size_t kMaxQuestions = 16;
constexpr std::size_t kMaxKey = 256;

using Storage = std::vector<std::unique_ptr<std::string>>;

// An object without the members that are not to be there.
template <class Drop>
std::string without(std::string_view object, Drop&& drop) {
  Storage storage;
  const auto members = json::members_of(object, storage);
  if (!members) return std::string(object);
  std::string out = "{";
  for (const auto& [key, value] : *members) {
    if (drop(key)) continue;
    if (out.size() > 1) out += ',';
    json::append_quoted(out, key);
    out += ':';
    out += value;
  }
  return out + "}";
}

bool is_of_legacy_params(std::string_view key) { return key == "_meta" || key == "task" || key == "elicitationId"; }

}  // namespace

mcp::InputRequest to_modern(client::Question question) {
  mcp::InputRequest request{{}, question.method, {}};
  if (question.params.empty()) return request;
  const std::string_view meta = json::find_member(question.params, "_meta");
  auto key = json::decode_string(json::find_member(meta, "proteus/inputKey"));
  if (key && key->size() <= kMaxKey) request.key = std::move(*key);
  request.params = without(question.params, is_of_legacy_params);
  if (request.params == "{}") request.params.clear();
  return request;
}

std::optional<mcp::InputRequired> url_questions(std::string_view error_data) {
  const auto elements = json::elements_of(json::find_member(error_data, "elicitations"), kMaxQuestions);
  if (!elements || elements->empty()) return std::nullopt;
  mcp::InputRequired required;
  for (const std::string_view each : *elements) {
    std::vector<std::unique_ptr<std::string>> storage;
    if (!json::members_of(each, storage)) return std::nullopt;
    auto id = json::decode_string(json::find_member(each, "elicitationId"));
    if (json::find_member(each, "url").empty()) return std::nullopt;
    std::string key =
        id && !id->empty() && id->size() <= kMaxKey ? std::move(*id) : fmt::format("url-{}", required.requests.size());
    std::string params = without(each, is_of_legacy_params);
    if (json::find_member(params, "mode").empty()) params.insert(1, R"("mode":"url",)");
    required.requests.push_back({std::move(key), mcp::Method::elicit, std::move(params)});
  }
  return required;
}

}  // namespace proteus::gateway
