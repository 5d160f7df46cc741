#include "json/message.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/log/log.hpp"
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

Error beyond_depth(const ScanLimits& limits) {
  return errors::too_large("the depth of a message", limits.depth).with_rpc_code(kInvalidRequest);
}

// Reads nested objects of a text. Must not be used after the first fault.
class ObjectReader {
 public:
  ObjectReader(Tokens& tokens, Storage& storage, const ScanLimits& limits)
      : tokens_(tokens), storage_(storage), limits_(limits) {}

  // Reads the object that starts at the current token. `on_value` reads or skips each value and returns its text, or
  // empty text for a fault.
  template <class OnValue>
  bool read(Members& members, OnValue&& on_value) {
    // Only short keys are compared with every other key: long ones may differ only at their ends, which would take
    // long.
    std::set<std::string_view> long_keys;
    if (!tokens_.enter('{')) return fail();
    if (tokens_.take('}')) {
      tokens_.leave();
      return true;
    }
    do {
      const std::string_view raw = tokens_.take_key();
      if (raw.empty()) return fail();
      const std::string_view key = tokens_.escaped() ? decoded(raw, storage_) : raw.substr(1, raw.size() - 2);
      const bool twice = key.size() > kShortKey ? !long_keys.insert(key).second : members.has(key);
      if (twice) return fail_with(key_twice(key));
      if (members.size() == limits_.members) return fail_with(too_many_members());
      const std::string_view value = on_value(key);
      if (value.empty()) return fail();
      members.add({key, value});
    } while (tokens_.take(','));
    if (!tokens_.take('}')) return fail("a comma or the end of an object is expected");
    tokens_.leave();
    return true;
  }

  // Skips a value and returns its text.
  std::string_view value() { return tokens_.take_value(); }

  Error take_error() { return std::move(*error_); }

 private:
  static constexpr std::size_t kShortKey = 64;

  Error key_twice(std::string_view key) const {
    return errors::invalid(fmt::format("the key \"{}\" appears twice", log::printable(key)))
        .with_rpc_code(kInvalidRequest);
  }
  Error too_many_members() const {
    return errors::too_large("the number of members of an object", limits_.members).with_rpc_code(kInvalidRequest);
  }
  bool fail(std::string_view why = {}) {
    if (error_) return false;  // set by an inner object
    if (tokens_.too_deep()) return fail_with(beyond_depth(limits_));
    return fail_with(not_json(why.empty() ? tokens_.fault() : why, tokens_.offset()));
  }
  bool fail_with(Error error) {
    error_ = std::move(error);
    return false;
  }

  Tokens& tokens_;
  Storage& storage_;
  const ScanLimits& limits_;
  std::optional<Error> error_;
};

// Reads an object and returns its text; empty for a fault.
template <class OnValue>
std::string_view read_inner(Tokens& tokens, ObjectReader& reader, Members& members, OnValue&& on_value) {
  const char* const begin = tokens.position();
  if (!reader.read(members, on_value)) return {};
  return {begin, tokens.last_end()};
}

// Reads the members of `params` or `result`, and those of its `_meta`.
std::string_view read_body(Tokens& tokens, ObjectReader& reader, Message& message) {
  return read_inner(tokens, reader, message.body, [&](std::string_view key) {
    if (key != "_meta" || tokens.peek() != '{') return reader.value();
    return read_inner(tokens, reader, message.meta, [&](std::string_view) { return reader.value(); });
  });
}

// The raw members that JSON-RPC defines; empty for absent ones.
struct Envelope {
  std::string_view jsonrpc;
  std::string_view id;
  std::string_view method;
  std::string_view params;
  std::string_view result;
  std::string_view error;

  explicit Envelope(const Members& members) {
    for (const auto& [key, value] : members) {
      if (key == "jsonrpc") {
        jsonrpc = value;
      } else if (key == "id") {
        id = value;
      } else if (key == "method") {
        method = value;
      } else if (key == "params") {
        params = value;
      } else if (key == "result") {
        result = value;
      } else if (key == "error") {
        error = value;
      }
    }
  }
};

bool is_id(std::string_view raw) { return is_string(raw) || is_integer(raw); }

void classify(Message& message, const Envelope& top) {
  const auto invalid = [&](std::string_view why) { message.fault = why; };
  if (is_id(top.id)) message.id = top.id;
  if (top.jsonrpc != "\"2.0\"") return invalid("\"jsonrpc\" must be \"2.0\"");
  if (!top.id.empty() && message.id.empty()) return invalid("\"id\" must be a string or an integer");

  if (!top.method.empty()) {
    if (!is_string(top.method)) return invalid("\"method\" must be a string");
    message.method = decoded(top.method, message.decoded);
    if (message.method.empty()) return invalid("\"method\" is empty");
    if (!message.params.empty() && !is_object(message.params)) return invalid("\"params\" must be an object");
    if (!top.result.empty() || !top.error.empty()) return invalid("a request has no \"result\" or \"error\"");
    message.kind = !top.id.empty() ? MessageKind::request : MessageKind::notification;
    return;
  }
  if (top.result.empty() == top.error.empty()) {
    return invalid("a message has a \"method\", a \"result\" or an \"error\", and only one of them");
  }
  // `scan_into` takes the first of `params` and `result` as the body, so accepting both would depend on their order.
  if (!top.params.empty()) return invalid("a response has no \"params\"");
  if (!top.error.empty()) {
    if (!is_object(top.error)) return invalid("\"error\" must be an object");
    message.kind = MessageKind::error;
    return;
  }
  if (!is_object(top.result)) return invalid("\"result\" must be an object");
  if (top.id.empty()) return invalid("a result needs an \"id\"");
  message.kind = MessageKind::result;
}

}  // namespace

std::string_view decoded(std::string_view raw, Storage& storage) {
  if (const auto plain = plain_string(raw)) return *plain;
  auto text = decode_string(raw);
  if (!text) return {};
  return *storage.emplace_back(std::make_unique<std::string>(std::move(*text)));
}

Result<void> scan_into(Message& message, std::string_view text, const ScanLimits& limits) {
  if (text.size() > limits.bytes) {
    return std::unexpected(errors::too_large("the message", limits.bytes).with_rpc_code(kInvalidRequest));
  }
  message.text = text;
  auto tokens = Tokens::of(text, limits.depth);
  if (!tokens) return std::unexpected(std::move(tokens.error()).with_rpc_code(kParseError));
  if (tokens->peek() != '{') {
    const std::string_view value = tokens->take_value();
    if (tokens->too_deep()) return std::unexpected(beyond_depth(limits));
    if (value.empty()) return std::unexpected(not_json(tokens->fault(), tokens->offset()));
    if (!tokens->done()) return std::unexpected(not_json("something follows the value", tokens->offset()));
    message.fault = value.front() == '[' ? "a batch is not a message" : "a message is an object";
    return {};
  }

  ObjectReader reader(*tokens, message.decoded, limits);
  Members top;
  const bool read = reader.read(top, [&](std::string_view key) {
    const bool body = (key == "params" || key == "result") && message.body.empty() && tokens->peek() == '{';
    return body ? read_body(*tokens, reader, message) : reader.value();
  });
  if (!read) return std::unexpected(reader.take_error());
  if (!tokens->done()) return std::unexpected(not_json("something follows the message", tokens->offset()));

  const Envelope envelope(top);
  message.params = envelope.params;
  message.result = envelope.result;
  message.error = envelope.error;
  classify(message, envelope);
  return {};
}

Result<Message> scan(std::string_view text, const ScanLimits& limits) {
  Result<Message> message(std::in_place);
  if (auto scanned = scan_into(*message, text, limits); !scanned) message = std::unexpected(scanned.error());
  return message;
}

Result<Members> members_of(std::string_view object, Storage& storage, const ScanLimits& limits) {
  auto tokens = Tokens::of(object, limits.depth);
  if (!tokens) return std::unexpected(std::move(tokens.error()).with_rpc_code(kParseError));
  if (tokens->peek() != '{') return std::unexpected(errors::invalid("an object is expected"));
  ObjectReader reader(*tokens, storage, limits);
  Members members;
  const bool read = reader.read(members, [&](std::string_view) { return reader.value(); });
  if (!read) return std::unexpected(reader.take_error());
  if (!tokens->done()) return std::unexpected(not_json("something follows the object", tokens->offset()));
  return members;
}

Result<std::vector<std::string_view>> elements_of(std::string_view array, std::size_t max_elements,
                                                  const ScanLimits& limits) {
  if (array.size() > limits.bytes) {
    return std::unexpected(errors::too_large("the array", limits.bytes).with_rpc_code(kInvalidRequest));
  }
  auto tokens = Tokens::of(array, limits.depth);
  if (!tokens) return std::unexpected(std::move(tokens.error()).with_rpc_code(kParseError));
  if (!tokens->enter('[')) return std::unexpected(errors::invalid("an array is expected"));
  std::vector<std::string_view> elements;
  if (!tokens->take(']')) {
    do {
      if (elements.size() == max_elements) {
        return std::unexpected(
            errors::too_large("the number of elements of an array", max_elements).with_rpc_code(kInvalidRequest));
      }
      const std::string_view element = tokens->take_value();
      if (tokens->too_deep()) return std::unexpected(beyond_depth(limits));
      if (element.empty()) return std::unexpected(not_json(tokens->fault(), tokens->offset()));
      elements.push_back(element);
    } while (tokens->take(','));
    if (!tokens->take(']')) return std::unexpected(not_json("the end of an array is expected", tokens->offset()));
  }
  if (!tokens->done()) return std::unexpected(not_json("something follows the array", tokens->offset()));
  return elements;
}

}  // namespace proteus::json
