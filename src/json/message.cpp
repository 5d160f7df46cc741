#include "json/message.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "json/text.hpp"
#include "json/tokens.hpp"

namespace proteus::json {
namespace {

constexpr int kParseError = -32700;
constexpr int kInvalidRequest = -32600;

using Storage = std::vector<std::unique_ptr<std::string>>;

Error not_json(std::string_view why, std::size_t at) {
  return errors::invalid(fmt::format("not JSON: {}, at byte {}", why, at)).with_rpc_code(kParseError);
}

// Reads the object the tokens stand at; `on_value` steps over each value, or into it.
class ObjectReader {
 public:
  ObjectReader(Tokens& tokens, Storage& storage, const ScanLimits& limits)
      : tokens_(tokens), storage_(storage), limits_(limits) {}

  template <class OnValue>
  Result<void> read(Members& members, OnValue&& on_value) {
    tokens_.take('{');
    if (tokens_.take('}')) return {};
    do {
      const std::string_view raw_key = tokens_.take_string();
      if (raw_key.empty()) return fault();
      if (!tokens_.take(':')) return fault("a colon is expected after a key");
      const std::string_view key = decoded(raw_key, storage_);
      if (members.has(key)) {
        return std::unexpected(errors::invalid(fmt::format("the key {} appears twice", quote(key)))
                                   .with_rpc_code(kInvalidRequest));
      }
      if (members.size() == limits_.members) {
        return std::unexpected(errors::too_large("the number of members of an object", limits_.members)
                                   .with_rpc_code(kInvalidRequest));
      }
      Result<std::string_view> value = on_value(key);
      if (!value) return std::unexpected(value.error());
      members.add({key, *value});
    } while (tokens_.take(','));
    if (!tokens_.take('}')) return fault("a comma or the end of an object is expected");
    return {};
  }

  Result<std::string_view> value() {
    const std::string_view text = tokens_.take_value();
    if (text.empty()) return fault_as<std::string_view>();
    return text;
  }

 private:
  template <class T>
  Result<T> fault_as() {
    return std::unexpected(fault().error());
  }
  Result<void> fault(std::string_view why = {}) {
    if (why.empty()) why = tokens_.fault();
    return std::unexpected(not_json(why, tokens_.done() ? 0 : tokens_.position()));
  }

  Tokens& tokens_;
  Storage& storage_;
  const ScanLimits& limits_;
};

// `params` or `result`: its members, and those of its `_meta`.
Result<std::string_view> read_body(std::string_view text, Tokens& tokens, ObjectReader& reader,
                                   Message& message) {
  const std::size_t begin = tokens.position();
  const auto read = reader.read(message.body, [&](std::string_view key) -> Result<std::string_view> {
    if (key != "_meta" || tokens.peek() != '{') return reader.value();
    const std::size_t meta_begin = tokens.position();
    const auto meta = reader.read(message.meta, [&](std::string_view) { return reader.value(); });
    if (!meta) return std::unexpected(meta.error());
    return text.substr(meta_begin, tokens.last_end() - meta_begin);
  });
  if (!read) return std::unexpected(read.error());
  return text.substr(begin, tokens.last_end() - begin);
}

bool is_id(std::string_view raw) {
  return is_string(raw) || is_integer(raw);
}

void classify(Message& message, const Members& top) {
  const auto invalid = [&](std::string_view why) { message.fault = why; };
  const Member* const id = top.find("id");
  if (id != nullptr && is_id(id->value)) message.id = id->value;
  if (plain_string(top.value("jsonrpc")) != "2.0") return invalid("\"jsonrpc\" must be \"2.0\"");
  if (id != nullptr && message.id.empty()) return invalid("\"id\" must be a string or an integer");

  const std::string_view method = top.value("method");
  if (!method.empty()) {
    if (!is_string(method)) return invalid("\"method\" must be a string");
    message.method = decoded(method, message.decoded);
    if (message.method.empty()) return invalid("\"method\" is empty");
    if (!message.params.empty() && !is_object(message.params)) return invalid("\"params\" must be an object");
    if (top.has("result") || top.has("error")) return invalid("a request has no \"result\" or \"error\"");
    message.kind = id != nullptr ? MessageKind::request : MessageKind::notification;
    return;
  }
  if (top.has("result") == top.has("error")) {
    return invalid("a message has a \"method\", a \"result\" or an \"error\", and only one of them");
  }
  if (!message.error.empty()) {
    if (!is_object(message.error)) return invalid("\"error\" must be an object");
    message.kind = MessageKind::error;
    return;
  }
  if (!is_object(message.result)) return invalid("\"result\" must be an object");
  if (id == nullptr) return invalid("a result needs an \"id\"");
  message.kind = MessageKind::result;
}

}  // namespace

std::string_view decoded(std::string_view raw, Storage& storage) {
  if (const auto plain = plain_string(raw)) return *plain;
  auto text = decode_string(raw);
  if (!text) return {};
  return *storage.emplace_back(std::make_unique<std::string>(std::move(*text)));
}

const Member* Members::find(std::string_view key) const {
  const auto found = std::ranges::find(members_, key, &Member::key);
  return found == members_.end() ? nullptr : &*found;
}

std::string_view Members::value(std::string_view key) const {
  const Member* const member = find(key);
  return member == nullptr ? std::string_view{} : member->value;
}

Result<Message> scan(std::string_view text, const ScanLimits& limits) {
  if (text.size() > limits.bytes) {
    return std::unexpected(errors::too_large("the message", limits.bytes).with_rpc_code(kInvalidRequest));
  }
  auto tokens = Tokens::index(text, limits.depth);
  if (!tokens) return std::unexpected(std::move(tokens.error()).with_rpc_code(kParseError));

  Message message;
  message.text = text;
  if (tokens->peek() != '{') {
    const std::string_view value = tokens->take_value();
    if (value.empty() || !tokens->done()) return std::unexpected(not_json(tokens->fault(), 0));
    message.fault = value.front() == '[' ? "a batch is not a message" : "a message is an object";
    return message;
  }

  ObjectReader reader(*tokens, message.decoded, limits);
  Members top;
  const auto read = reader.read(top, [&](std::string_view key) -> Result<std::string_view> {
    const bool body = (key == "params" || key == "result") && message.body.empty() && tokens->peek() == '{';
    return body ? read_body(text, *tokens, reader, message) : reader.value();
  });
  if (!read) return std::unexpected(read.error());
  if (!tokens->done()) return std::unexpected(not_json("something follows the message", tokens->position()));

  message.params = top.value("params");
  message.result = top.value("result");
  message.error = top.value("error");
  classify(message, top);
  return message;
}

Result<Members> members_of(std::string_view object, Storage& storage, const ScanLimits& limits) {
  auto tokens = Tokens::index(object, limits.depth);
  if (!tokens) return std::unexpected(std::move(tokens.error()).with_rpc_code(kParseError));
  if (tokens->peek() != '{') return std::unexpected(errors::invalid("an object is expected"));
  ObjectReader reader(*tokens, storage, limits);
  Members members;
  const auto read = reader.read(members, [&](std::string_view) { return reader.value(); });
  if (!read) return std::unexpected(read.error());
  if (!tokens->done()) return std::unexpected(not_json("something follows the object", tokens->position()));
  return members;
}

Result<std::vector<std::string_view>> elements_of(std::string_view array, std::size_t limit,
                                                  const ScanLimits& limits) {
  auto tokens = Tokens::index(array, limits.depth);
  if (!tokens) return std::unexpected(std::move(tokens.error()).with_rpc_code(kParseError));
  std::vector<std::string_view> elements;
  if (!tokens->take('[')) return std::unexpected(errors::invalid("an array is expected"));
  if (tokens->take(']')) return elements;
  do {
    if (elements.size() == limit) return std::unexpected(errors::too_large("the number of elements", limit));
    const std::string_view element = tokens->take_value();
    if (element.empty())
      return std::unexpected(not_json(tokens->fault(), tokens->done() ? 0 : tokens->position()));
    elements.push_back(element);
  } while (tokens->take(','));
  if (!tokens->take(']') || !tokens->done()) {
    return std::unexpected(not_json("a comma or the end of the array is expected", 0));
  }
  return elements;
}

}  // namespace proteus::json
