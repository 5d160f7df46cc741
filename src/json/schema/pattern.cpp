#include "json/schema/pattern.hpp"

#include <algorithm>
#include <functional>
#include <mutex>
#include <unordered_map>

#include <fmt/format.h>
#include <re2/re2.h>

#include "json/schema/ecma_pattern.hpp"

namespace proteus::json::schema {
namespace {

RE2::Options options() {
  RE2::Options options;
  options.set_log_errors(false);
  options.set_never_capture(true);
  options.set_max_mem(static_cast<std::int64_t>(Pattern::kMaxMemory));
  return options;
}

struct TextHash : std::hash<std::string_view> {
  using is_transparent = void;
};

// A cache of a pure function: losing an entry changes nothing but the cost.
class Shared {
 public:
  std::shared_ptr<const Pattern> find(std::string_view text) {
    const std::lock_guard lock(mutex_);
    const auto found = patterns_.find(text);
    return found == patterns_.end() ? nullptr : found->second.lock();
  }

  // Returns the pattern that was kept first if two threads have compiled the same text.
  std::shared_ptr<const Pattern> keep(std::shared_ptr<const Pattern> pattern) {
    const std::lock_guard lock(mutex_);
    auto& entry = patterns_[pattern->text()];
    if (auto earlier = entry.lock()) return earlier;
    entry = pattern;
    if (patterns_.size() >= sweep_at_) {
      std::erase_if(patterns_, [](const auto& kept) { return kept.second.expired(); });
      sweep_at_ = std::max<std::size_t>(64, patterns_.size() * 2);
    }
    return pattern;
  }

 private:
  std::mutex mutex_;
  std::unordered_map<std::string, std::weak_ptr<const Pattern>, TextHash, std::equal_to<>> patterns_;
  std::size_t sweep_at_ = 64;
};

Shared& shared() {
  static Shared patterns;
  return patterns;
}

}  // namespace

struct Pattern::Compiled {
  explicit Compiled(const std::string& translated) : expression(translated, options()) {}
  RE2 expression;
};

Pattern::Pattern(std::string text, std::unique_ptr<const Compiled> compiled)
    : text_(std::move(text)), compiled_(std::move(compiled)) {}

Pattern::~Pattern() = default;

Result<std::shared_ptr<const Pattern>> Pattern::compile(std::string_view ecma) {
  if (ecma.size() > kMaxBytes) return std::unexpected(errors::too_large("the length of a pattern", kMaxBytes));
  if (auto known = shared().find(ecma)) return known;

  const auto translated = translate_ecma_pattern(ecma);
  if (!translated) return std::unexpected(translated.error());
  auto compiled = std::make_unique<const Compiled>(*translated);
  if (compiled->expression.error_code() == RE2::ErrorPatternTooLarge) {
    return std::unexpected(errors::too_large("the memory of a pattern", kMaxMemory));
  }
  if (!compiled->expression.ok()) return std::unexpected(errors::unsupported(compiled->expression.error()));
  return shared().keep(std::shared_ptr<const Pattern>(new Pattern(std::string(ecma), std::move(compiled))));
}

bool Pattern::matches(std::string_view text) const {
  return RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), compiled_->expression);
}

std::size_t Pattern::size() const { return static_cast<std::size_t>(compiled_->expression.ProgramSize()); }

}  // namespace proteus::json::schema
