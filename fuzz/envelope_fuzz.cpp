// Fuzzes the scanner of JSON-RPC messages: it ends on any input, and agrees with Boost's parser about a message and its
// parts.
#include <cstdint>

#include <boost/json/object.hpp>

#include "check.hpp"
#include "json/message.hpp"
#include "json/text.hpp"

namespace {

using proteus::fuzz::boost_opinion;
using proteus::fuzz::check;
using proteus::fuzz::same_value;
namespace json = proteus::json;

void same(std::string_view raw, const boost::json::value* expected, const char* promise) {
  if (raw.empty() || expected == nullptr) return check(raw.empty() && expected == nullptr, promise);
  const auto opinion = boost_opinion(raw);
  check(opinion.value && same_value(*opinion.value, *expected), promise);
}

void same_members(const json::Members& members, const boost::json::object& object) {
  check(members.size() == object.size(), "an object has as many members as in a tree");
  for (const auto& [key, value] : members)
    same(value, object.if_contains(key), "a member is what it is in a tree");
}

void compare(const json::Message& message, const boost::json::value& tree) {
  const auto* object = tree.if_object();
  if (object == nullptr) return check(message.kind == json::MessageKind::invalid, "only an object is a message");
  same(message.params, object->if_contains("params"), "params are those of a tree");
  same(message.result, object->if_contains("result"), "the result is that of a tree");
  same(message.error, object->if_contains("error"), "the error is that of a tree");
  if (message.kind == json::MessageKind::invalid) return check(!message.fault.empty(), "a fault has a reason");

  const auto is = [](const boost::json::value& value, std::string_view text) {
    return value.is_string() && value.get_string() == text;
  };
  check(is(object->at("jsonrpc"), "2.0"), "a message says its version");
  same(message.id, object->if_contains("id"), "the id is that of a tree");
  const auto* method = object->if_contains("method");
  check(method == nullptr ? message.method.empty() : is(*method, message.method), "the method is that of a tree");
  const auto* body = object->if_contains(message.kind == json::MessageKind::result ? "result" : "params");
  if (body != nullptr && body->is_object()) {
    same_members(message.body, body->get_object());
    const auto* meta = body->get_object().if_contains("_meta");
    if (meta != nullptr && meta->is_object()) same_members(message.meta, meta->get_object());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = proteus::fuzz::as_text(data, size);
  const auto opinion = boost_opinion(text);
  const auto message = json::scan(text);
  if (message) {
    check(opinion.value || opinion.unsure, "what is scanned is JSON");
    if (opinion.value) compare(*message, *opinion.value);
  } else if (message.error().rpc_code() == -32700) {
    check(!opinion.value, "what is not JSON is not JSON for others");
  } else {
    // Our scanner refuses a repeated key or a message over a limit. Boost may accept both, so the trees are not
    // compared.
    check(message.error().rpc_code() == -32600, "a refusal has a code");
  }

  std::vector<std::unique_ptr<std::string>> storage;
  const auto members = json::members_of(text, storage);
  if (members && opinion.value) same_members(*members, opinion.value->as_object());
  check(!members || opinion.value || opinion.unsure, "what has members is JSON");
  const auto elements = json::elements_of(text, 1000);
  check(!elements || opinion.value || opinion.unsure, "what has elements is JSON");
  if (elements && opinion.value) {
    check(elements->size() == opinion.value->as_array().size(), "an array has as many elements as in a tree");
    for (std::size_t i = 0; i < elements->size(); ++i)
      same((*elements)[i], &opinion.value->as_array()[i], "an element is what it is in a tree");
  }
  return 0;
}
