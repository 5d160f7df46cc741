#include "app/commands/kept_sign_in.hpp"

#include "base/log/log.hpp"

namespace proteus::app {

Result<std::optional<client::OAuth>> kept_sign_in(const std::string& url, const Environment& environment) {
  const auto server = net::Url::parse(url);
  if (!server) return std::nullopt;  // the builder reports this better
  const auto file = SignInFile::of(*server, environment);
  if (!file) return std::nullopt;
  auto kept = file->load();
  if (!kept) return std::unexpected(std::move(kept.error()));
  if (kept->empty()) return std::nullopt;
  client::OAuth oauth;
  oauth.load = [kept = std::move(*kept)] { return kept.reveal(); };
  oauth.save = [file = *file](const std::string& renewed) {
    if (const auto saved = file.save(Secret(renewed)); !saved)
      log::error("the sign-in could not be kept: {}", saved.error().message());
  };
  return oauth;
}

}  // namespace proteus::app
