// Fuzzes edits of a message: the result is the expected tree, and nothing else has changed. The first byte selects the
// members of `params` or `result` to drop, the second those of `_meta`, the third the other edits.
#include <cstdint>
#include <string>

#include <boost/json/object.hpp>

#include "check.hpp"
#include "json/message.hpp"
#include "json/splice.hpp"

namespace {

using proteus::fuzz::boost_opinion;
using proteus::fuzz::check;
using proteus::fuzz::same_value;
namespace json = proteus::json;

// Makes the same edits in the splice and in the tree.
void edit(json::Splice& splice, std::string_view object, const json::Members& members, unsigned mask, bool add,
          boost::json::object& tree) {
  unsigned index = 0;
  json::edit_members(
      splice, object, members,
      [&](const json::Member& member) {
        const bool drop = (mask >> (index++ % 8) & 1U) != 0 && member.key != "_meta" && member.key != "name";
        if (drop) tree.erase(member.key);
        return drop;
      },
      add && !members.has("added") ? R"("added":{"a":[1,"\n"]})" : "");
  if (add && !members.has("added")) tree["added"] = {{"a", {1, "\n"}}};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 3) return 0;
  const std::string_view text = proteus::fuzz::as_text(data + 3, size - 3);
  const unsigned what = data[2];
  const auto message = json::scan(text);
  if (!message || message->kind == json::MessageKind::invalid) return 0;
  auto opinion = boost_opinion(text);
  if (!opinion.value) return 0;
  auto& expected = opinion.value->as_object();
  const char* const body_key = message->kind == json::MessageKind::result ? "result" : "params";
  auto* const body = expected.if_contains(body_key);
  const bool has_body = body != nullptr && body->is_object();
  const bool has_meta = has_body && message->body.value("_meta").starts_with('{');

  json::Splice splice(text);
  // The id is edited first or last, because the order of edits must not matter.
  const auto edit_id = [&] {
    if (message->id.empty()) return;
    splice.replace(message->id, R"("\u0041 new id")");
    expected.at("id") = "A new id";
  };
  if ((what & 1U) != 0) edit_id();
  if (has_meta) {
    edit(splice, message->body.value("_meta"), message->meta, data[1], (what & 2U) != 0,
         body->get_object().at("_meta").as_object());
  }
  if (has_body) {
    const std::string_view name = message->body.value("name");
    if (!name.empty()) {
      splice.replace(name, "\"renamed\"");
      body->get_object().at("name") = "renamed";
    }
    const std::string_view raw = message->kind == json::MessageKind::result ? message->result : message->params;
    edit(splice, raw, message->body, data[0], (what & 4U) != 0, body->get_object());
  }
  if ((what & 1U) == 0) edit_id();

  const std::string changed = splice.str();
  check(changed.size() == splice.size(), "a splice knows its size");
  const auto again = boost_opinion(changed);
  check(again.value && same_value(*again.value, *opinion.value), "a splice gives the tree that was meant");
  const auto rescanned = json::scan(changed);
  check(rescanned && rescanned->kind == message->kind, "a splice keeps what a message is");
  check(rescanned->method == message->method, "a splice keeps the method");
  return 0;
}
