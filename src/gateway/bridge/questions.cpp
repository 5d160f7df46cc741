#include "gateway/bridge/questions.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "json/splice.hpp"
#include "json/text.hpp"

namespace proteus::gateway {
namespace {

constexpr std::size_t kMaxQuestions = 16;
constexpr std::size_t kMaxKey = 256;

bool is_of_legacy_params(const json::Member& member) {
  return member.key == "_meta" || member.key == "task" || member.key == "elicitationId";
}

// Returns an object without the members that only the legacy era has; empty if it has no others.
std::string without_legacy_params(std::string_view object) {
  std::vector<std::unique_ptr<std::string>> storage;
  const auto members = json::members_of(object, storage);
  if (!members) return std::string(object);
  if (std::ranges::all_of(*members, is_of_legacy_params)) return {};
  json::Splice splice(object);
  json::edit_members(splice, object, *members, is_of_legacy_params);
  return splice.str();
}

}  // namespace

mcp::InputRequest to_modern(client::Question question) {
  mcp::InputRequest request{{}, question.method, {}};
  if (question.params.empty()) return request;
  const std::string_view meta = json::find_member(question.params, "_meta");
  auto key = json::decode_string(json::find_member(meta, "proteus/inputKey"));
  if (key && key->size() <= kMaxKey) request.key = std::move(*key);
  request.params = without_legacy_params(question.params);
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
    const auto is_taken = [&](const std::string& key) {
      return std::ranges::find(required.requests, key, &mcp::InputRequest::key) != required.requests.end();
    };
    std::string key = id && id->size() <= kMaxKey ? std::move(*id) : std::string();
    for (std::size_t number = required.requests.size(); key.empty() || is_taken(key); ++number)
      key = fmt::format("url-{}", number);
    std::string params = without_legacy_params(each);
    if (json::find_member(params, "mode").empty()) params.insert(1, R"("mode":"url",)");
    required.requests.push_back({std::move(key), mcp::Method::elicit, std::move(params)});
  }
  return required;
}

}  // namespace proteus::gateway
