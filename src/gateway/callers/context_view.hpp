#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "catalog/contexts/contexts.hpp"
#include "gateway/callers/principal.hpp"

namespace proteus::gateway {

class LocalProvider;

// What contexts make of somebody's look at the catalog. Immutable.
struct ContextView {
  std::shared_ptr<const catalog::ContextLens> lens;  // null at the plain endpoint
  // Offers and answers for context://<name>: of this context and of the siblings that may be entered; at the plain
  // endpoint, of all that may be. Null where there is none.
  std::shared_ptr<LocalProvider> guide;
  bool personal = false;    // whether it is another for others
  std::string fingerprint;  // the same for those that are the same
};

ContextView outlook_of(const catalog::Contexts& contexts, const Principal& principal, std::string_view context);

// ContextViews as they were made last, so that a request need not make its own. Not thread-safe: each thread has its
// own.
class ContextViews {
 public:
  // Null where there are no contexts. Allocates nothing where it was asked for before.
  std::shared_ptr<const ContextView> of(const catalog::Contexts::Pointer& contexts, const server::Caller& caller);

 private:
  struct Text {
    using is_transparent = void;  // NOLINT(readability-identifier-naming): the name that containers look for
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };
  template <class T>
  using ByText = std::unordered_map<std::string, T, Text, std::equal_to<>>;

  catalog::Contexts::Pointer contexts_;
  ByText<ByText<std::shared_ptr<const ContextView>>> known_;  // by what a principal may enter, then by context
  std::size_t size_ = 0;
};

}  // namespace proteus::gateway
