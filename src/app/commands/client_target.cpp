#include "app/commands/client_target.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "app/commands/kept_sign_in.hpp"
#include "base/settings/units.hpp"
#include "base/text/ascii.hpp"

namespace proteus::app {
namespace {

constexpr std::string_view kStdio = "stdio:";

Result<std::pair<std::string, std::string>> parse_header(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == 0 || colon == std::string_view::npos)
    return std::unexpected(errors::invalid(fmt::format("a header is \"Name: value\", not \"{}\"", text)));
  std::string_view value = text.substr(colon + 1);
  while (value.starts_with(' '))
    value.remove_prefix(1);
  return std::pair(std::string(text.substr(0, colon)), std::string(value));
}

// Whether servers recognize a caller by this header. Others may be secret, too, but leave the caller unknown.
bool authenticates(std::string_view header) {
  static constexpr std::array<std::string_view, 4> kNames = {"authorization", "cookie", "x-admin-secret", "x-api-key"};
  const std::string_view name = header.substr(0, header.find(':'));
  return std::ranges::any_of(kNames, [&](std::string_view known) { return same_ignoring_case(name, known); });
}

// A number without a unit means seconds.
Result<std::chrono::milliseconds> timeout_of(const std::string& text) {
  const bool plain = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
  auto duration = parse_duration(plain ? text + "s" : text);
  if (duration && duration->count() == 0) duration = std::unexpected(errors::invalid("must be above zero"));
  if (!duration) return std::unexpected(std::move(duration.error()).within("--timeout"));
  return duration;
}

}  // namespace

Result<std::vector<std::string>> split_words(std::string_view text) {
  std::vector<std::string> words;
  bool in_word = false;
  char quote = '\0';
  for (const char c : text) {
    if (quote != '\0') {
      if (c == quote) {
        quote = '\0';
      } else {
        words.back() += c;
      }
      continue;
    }
    if (c == ' ') {
      in_word = false;
      continue;
    }
    if (!std::exchange(in_word, true)) words.emplace_back();
    if (c == '\'' || c == '"') {
      quote = c;
    } else {
      words.back() += c;
    }
  }
  if (quote != '\0') return std::unexpected(errors::invalid("a quote in the command does not end"));
  return words;
}

Result<client::McpServer::Builder> ClientTarget::builder() const {
  std::vector<std::string> argv = command;
  std::string at = url;
  if (at.starts_with(kStdio)) {
    auto words = split_words(std::string_view(at).substr(kStdio.size()));
    if (!words) return std::unexpected(std::move(words.error()));
    if (!argv.empty()) return std::unexpected(errors::invalid("a command is given twice"));
    argv = std::move(*words);
    at.clear();
    if (argv.empty()) return std::unexpected(errors::invalid("stdio: needs a command"));
  }
  if (at.empty() && argv.empty()) return std::unexpected(errors::invalid("a URL is needed, or a command behind --"));
  if (!at.empty() && !argv.empty())
    return std::unexpected(errors::invalid("a URL and a command are given; one server has one"));
  if (!at.empty() && !at.starts_with("http://") && !at.starts_with("https://")) {
    return std::unexpected(
        errors::invalid(fmt::format("\"{}\" is not a URL: it must begin with http://, https:// or stdio:", at)));
  }

  auto builder = client::McpServer::builder(at);
  if (!argv.empty()) builder.command(std::move(argv));
  for (const auto& text : headers) {
    auto header = parse_header(text);
    if (!header) return std::unexpected(std::move(header.error()));
    builder.header(std::move(header->first), std::move(header->second));
  }
  if (!bearer_variable.empty()) {
    builder.auth(client::BearerToken::from_env(bearer_variable));
  } else if (uses_sign_in && !at.empty() && std::ranges::none_of(headers, authenticates)) {
    auto kept = kept_sign_in(at, process_environment());
    if (!kept) return std::unexpected(std::move(kept.error()));
    if (*kept) builder.auth(std::move(**kept));
  }
  if (!timeout.empty()) {
    const auto duration = timeout_of(timeout);
    if (!duration) return std::unexpected(duration.error());
    builder.timeout(*duration).call_timeout(*duration);
  }
  if (era != "auto") builder.era(era == "legacy" ? client::Era::legacy : client::Era::modern);
  if (transport != "auto") {
    builder.http_transport(transport == "sse" ? client::HttpTransport::old_sse
                                              : client::HttpTransport::streamable_http);
  }
  if (!ca_file.empty()) builder.ca_file(ca_file);
  builder.client_info("proteus", PROTEUS_VERSION);
  return builder;
}

}  // namespace proteus::app
