#include "base/log/log.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <mutex>

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include "base/text/utf8.hpp"
#include "base/text/visible_text.hpp"

namespace proteus::log {
namespace {

constexpr std::array<std::string_view, 7> kLevels = {"trace", "debug", "info", "warning", "error", "critical", "off"};
// The folders of src.
constexpr std::array<std::string_view, 19> kModules = {
    "base",   "json",   "toml",      "store",    "net",     "redis", "auth",    "mcp",   "catalog", "search",
    "server", "client", "providers", "datasets", "cluster", "live",  "gateway", "admin", "app"};

constexpr const char* kTextPattern = "%Y-%m-%dT%H:%M:%S.%eZ %^%l%$ %v";
constexpr const char* kJsonPattern = R"({"time":"%Y-%m-%dT%H:%M:%S.%eZ","level":"%l",%v})";

// Longest message or value. Each stays on one line, with all unseen characters escaped.
constexpr std::size_t kLongest = std::size_t{16} << 10U;

spdlog::level::level_enum to_spdlog(Level level) { return static_cast<spdlog::level::level_enum>(level); }

spdlog::logger& logger() {
  static const std::shared_ptr<spdlog::logger> instance = [] {
    auto made = spdlog::stderr_color_mt("proteus");
    made->set_pattern(kTextPattern, spdlog::pattern_time_type::utc);
    made->set_level(spdlog::level::trace);
    return made;
  }();
  return *instance;
}

struct Current {
  std::mutex mutex;
  std::shared_ptr<const Settings> settings = std::make_shared<const Settings>();
  std::atomic<void (*)(std::string_view)> sink = nullptr;
};
Current& current() {
  static Current instance;
  return instance;
}
std::shared_ptr<const Settings> settings_now() {
  const std::scoped_lock lock(current().mutex);
  return current().settings;
}

// Returns the folder below src/; "app" for files elsewhere.
std::string_view module_of(const std::source_location& where) {
  constexpr std::string_view kRoot = "src/";
  const std::string_view file = where.file_name();
  const auto at = file.rfind(kRoot);
  if (at == std::string_view::npos || (at > 0 && file[at - 1] != '/')) return "app";
  const std::string_view rest = file.substr(at + kRoot.size());
  return rest.substr(0, rest.find('/'));
}

Level level_of(const Settings& settings, std::string_view module) {
  const auto found = settings.modules.find(std::string(module));
  return found == settings.modules.end() ? settings.level : found->second;
}

std::string quoted(std::string_view whole) {
  const std::string_view text = cut_text(whole, kLongest);
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out.push_back('\\');
      out.push_back(c);
    } else if (byte < 0x20 || byte == 0x7f) {
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", byte);
    } else {
      out.push_back(c);
    }
  }
  if (text.size() < whole.size()) out += "…";
  out.push_back('"');
  return visible_json(out);
}

bool is_plain(std::string_view value) {
  return std::ranges::none_of(value, [](char c) { return c == ' ' || c == '"' || c == '=' || c == '\\'; }) &&
         visible_text(value) == value;
}

std::string as_text(std::string_view module, std::string_view message, std::span<const Field> fields) {
  std::string out = fmt::format("{}: {}", module, printable(message, kLongest));
  for (const Field& field : fields) {
    if (field.value.empty()) continue;
    out += fmt::format(" {}={}", field.name, is_plain(field.value) ? field.value : quoted(field.value));
  }
  return out;
}

std::string as_json(std::string_view module, std::string_view message, std::span<const Field> fields) {
  std::string out = fmt::format(R"("module":{},"message":{})", quoted(module), quoted(message));
  for (const Field& field : fields) {
    if (!field.value.empty()) out += fmt::format(",{}:{}", quoted(field.name), quoted(field.value));
  }
  return out;
}

Result<Level> parse_level(std::string_view text) {
  const auto found = std::ranges::find(kLevels, text);
  if (found != kLevels.end()) return static_cast<Level>(found - kLevels.begin());
  return std::unexpected(errors::invalid(
      fmt::format("'{}' is not a level; the levels are {}", printable(text, 32), fmt::join(kLevels, ", "))));
}

}  // namespace

std::string_view to_string(Level level) { return kLevels[static_cast<std::size_t>(level)]; }

void configure(const Settings& settings) {
  Level least = settings.level;
  for (const auto& [module, level] : settings.modules)
    least = std::min(least, level);
  {
    const std::scoped_lock lock(current().mutex);
    current().settings = std::make_shared<const Settings>(settings);
  }
  logger().set_pattern(settings.format == Format::json ? kJsonPattern : kTextPattern, spdlog::pattern_time_type::utc);
  detail::least = least;
}

Result<> check_module(std::string_view name) {
  if (std::ranges::find(kModules, name) != kModules.end()) return {};
  return std::unexpected(errors::invalid(
      fmt::format("'{}' is not a module; the modules are {}", printable(name, 32), fmt::join(kModules, ", "))));
}

Result<> apply(std::string_view text, Settings& settings) {
  Settings changed = settings;
  while (!text.empty()) {
    const std::string_view item = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), item.size() + 1));
    const auto equals = item.find('=');
    const auto level = parse_level(equals == std::string_view::npos ? item : item.substr(equals + 1));
    if (!level) return std::unexpected(level.error());
    if (equals == std::string_view::npos) {
      changed.level = *level;
      continue;
    }
    if (auto known = check_module(item.substr(0, equals)); !known) return known;
    changed.modules[std::string(item.substr(0, equals))] = *level;
  }
  settings = std::move(changed);
  return {};
}

bool enabled_here(Level level, std::source_location where) {
  return enabled(level) && level >= level_of(*settings_now(), module_of(where));
}

void write(Level level, std::string_view message, std::span<const Field> fields, const std::source_location& where) {
  const auto settings = settings_now();
  const std::string_view module = module_of(where);
  if (level < level_of(*settings, module)) return;
  const std::string line =
      settings->format == Format::json ? as_json(module, message, fields) : as_text(module, message, fields);
  if (auto* const sink = current().sink.load()) return sink(fmt::format("{} {}", to_string(level), line));
  logger().log(to_spdlog(level), "{}", line);
}

void redirect(void (*sink)(std::string_view line)) { current().sink = sink; }

std::string printable(std::string_view text, std::size_t limit) {
  const std::string_view kept = cut_text(text, limit);
  std::string out = visible_text(kept);
  if (kept.size() < text.size()) out += "…";
  return out;
}

}  // namespace proteus::log
