#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <proteus/error.hpp>

#include "mcp/method.hpp"

namespace proteus::mcp {

// JSON text in pieces, some of them owned and some shared with other objects, so that long lists are sent without being
// copied.
class Payload {
 public:
  Payload() = default;
  explicit Payload(std::string text) { add(std::move(text)); }

  void add(std::string text) { add(std::move(text), 0, 0); }
  // Adds a text without its first `front` and last `back` bytes.
  void add(std::string text, std::size_t front, std::size_t back) {
    const std::size_t size = text.size() - front - back;
    if (size > 0) append({std::move(text), front, size, {}, {}});
  }
  // `view` must point into memory that `owner` keeps alive.
  void add(std::string_view view, std::shared_ptr<const void> owner) {
    if (!view.empty()) append({{}, 0, 0, view, std::move(owner)});
  }
  void add(std::shared_ptr<const std::string> text) {
    const std::string_view view = *text;
    add(view, std::move(text));
  }

  void add(Payload other) {
    if (other.empty()) return;
    append(std::move(other.first_));
    for (auto& piece : other.rest_)
      append(std::move(piece));
  }

  bool empty() const { return first_.text().empty(); }
  // Whether the payload is known to have no line ends. Adding a piece resets this.
  bool on_one_line() const { return on_one_line_; }
  void set_on_one_line() { on_one_line_ = true; }
  template <class Sink>
  void for_each(Sink&& sink) const {
    if (empty()) return;
    sink(first_.text());
    for (const auto& piece : rest_)
      sink(piece.text());
  }
  std::string str() const;

 private:
  struct Piece {
    std::string owned;
    std::size_t begin = 0;  // offset in `owned`
    std::size_t size = 0;
    std::string_view shared;
    std::shared_ptr<const void> owner;

    std::string_view text() const { return size > 0 ? std::string_view(owned).substr(begin, size) : shared; }
  };

  void append(Piece piece) {
    on_one_line_ = false;
    if (empty()) {
      first_ = std::move(piece);
    } else {
      if (rest_.capacity() == 0) rest_.reserve(4);
      rest_.push_back(std::move(piece));
    }
  }

  Piece first_;  // most replies have only this piece
  std::vector<Piece> rest_;
  bool on_one_line_ = false;
};

enum class CacheScope : std::uint8_t { shared, per_caller };  // "public" and "private" on the wire

struct Caching {
  std::chrono::milliseconds ttl{0};
  CacheScope scope = CacheScope::per_caller;
};

// A successful result, independent of the era.
struct Reply {
  Payload members;             // members of the result object, without those that an era adds
  std::string meta;            // members of its `_meta`
  Caching caching;             // used only if the method is cacheable
  bool is_tool_error = false;  // the members have `isError`: a tool ran and failed
  bool is_task = false;        // the members are a task instead of the result; only the modern era marks that
};

// A request for input from the user or the client: a key that the server has chosen, the method (`elicitation/create`,
// `sampling/createMessage` or `roots/list`), and its `params` as JSON text.
struct InputRequest {
  std::string key;
  Method method;
  std::string params;
  // Called on any thread with the `params` of each progress notification that the client sends for this request; may be
  // empty.
  std::function<void(std::string)> on_progress = {};
};

// Says that a request cannot be answered without input.
struct InputRequired {
  std::vector<InputRequest> requests;
  std::string state;  // state of the handler, returned to it in the next round; never sent unsealed
};

using Outcome = Result<std::variant<Reply, InputRequired>>;

}  // namespace proteus::mcp
