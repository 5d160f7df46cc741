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

// JSON text in pieces: some owned, some shared with whoever prepared them, so that a long list is gathered
// rather than copied.
class Payload {
 public:
  Payload() = default;
  explicit Payload(std::string text) { add(std::move(text)); }

  void add(std::string text) { add(std::move(text), 0, 0); }
  // A text without so many characters at its front and at its back.
  void add(std::string text, std::size_t front, std::size_t back) {
    const std::size_t size = text.size() - front - back;
    if (size > 0) append({std::move(text), front, size, {}, {}});
  }
  // `view` points into what `owner` keeps alive.
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
  // Whether what is there is known to hold no line ends.
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
    std::size_t begin = 0;  // in what is owned
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

  Piece first_;  // most replies have no other
  std::vector<Piece> rest_;
  bool on_one_line_ = false;
};

enum class CacheScope : std::uint8_t { shared, per_caller };  // "public" and "private" on the wire

struct Caching {
  std::chrono::milliseconds ttl{0};
  CacheScope scope = CacheScope::per_caller;
};

// A successful result that belongs to no era yet.
struct Reply {
  Payload members;             // the inside of the result object, without what an era adds
  std::string meta;            // the inside of its `_meta`
  Caching caching;             // where the method's result says how long it holds
  bool is_tool_error = false;  // the members have `isError`: a tool ran and failed
  bool is_task = false;        // the members are a task that stands for the result, which the modern era says
};

// Something the user or the client is asked for, under a key the server chose: the method
// (`elicitation/create`, `sampling/createMessage`, `roots/list`) and its `params` as JSON text.
struct InputRequest {
  std::string key;
  Method method;
  std::string params;
  // Told what the client says about its progress, the `params` of each such notification, on any thread; may be empty.
  std::function<void(std::string)> on_progress = {};
};

// The request cannot be answered yet.
struct InputRequired {
  std::vector<InputRequest> requests;
  std::string state;  // of the handler, handed back to it in the next round; not on the wire as it is
};

using Outcome = Result<std::variant<Reply, InputRequired>>;

}  // namespace proteus::mcp
