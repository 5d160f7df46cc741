#pragma once

#include <chrono>
#include <cstdint>
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

  void add(std::string text) {
    if (!text.empty()) pieces_.push_back({std::move(text), {}, {}});
  }
  // `view` points into what `owner` keeps alive.
  void add(std::string_view view, std::shared_ptr<const void> owner) {
    if (!view.empty()) pieces_.push_back({{}, view, std::move(owner)});
  }
  void add(std::shared_ptr<const std::string> text) {
    const std::string_view view = *text;
    add(view, std::move(text));
  }

  bool empty() const { return pieces_.empty(); }
  template <class Sink>
  void for_each(Sink&& sink) const {
    for (const auto& piece : pieces_)
      sink(piece.owner ? piece.shared : std::string_view(piece.owned));
  }
  std::string str() const;

 private:
  struct Piece {
    std::string owned;
    std::string_view shared;
    std::shared_ptr<const void> owner;
  };
  std::vector<Piece> pieces_;  // not inline: replies are moved more often than made
};

enum class CacheScope : std::uint8_t { shared, per_caller };  // "public" and "private" on the wire

struct Caching {
  std::chrono::milliseconds ttl{0};
  CacheScope scope = CacheScope::per_caller;
};

// A successful result that belongs to no era yet.
struct Reply {
  Payload members;   // the inside of the result object, without what an era adds
  std::string meta;  // the inside of its `_meta`
  Caching caching;   // where the method's result says how long it holds
};

// Something the user or the client is asked for, under a key the server chose: the method
// (`elicitation/create`, `sampling/createMessage`, `roots/list`) and its `params` as JSON text.
struct InputRequest {
  std::string key;
  Method method;
  std::string params;
};

// The request cannot be answered yet.
struct InputRequired {
  std::vector<InputRequest> requests;
  std::string state;  // of the handler, handed back to it in the next round; not on the wire as it is
};

using Outcome = Result<std::variant<Reply, InputRequired>>;

}  // namespace proteus::mcp
