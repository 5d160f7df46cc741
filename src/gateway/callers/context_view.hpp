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

// How a context changes what a caller sees of the catalog. Immutable.
struct ContextView {
  std::shared_ptr<const catalog::ContextLens> lens;  // null at the plain endpoint, and if `gone`
  // Provider of the resources context://<name>: for this context and the siblings that the caller may enter; at the
  // plain endpoint, for all contexts that the caller may enter. Null if there are none.
  std::shared_ptr<LocalProvider> guide;
  bool gone = false;        // whether the context does not exist any more: its callers see nothing
  bool personal = false;    // whether it may differ for other callers
  std::string fingerprint;  // equal for equal views
};

ContextView outlook_of(const catalog::Contexts& contexts, const Principal& principal, std::string_view context);

// A cache of ContextViews. Not thread-safe: each thread has its own.
class ContextViews {
 public:
  // Returns null if there are no contexts and the caller is in none. Allocates nothing if the view is cached.
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
