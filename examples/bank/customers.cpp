#include "bank/customers.hpp"

#include <algorithm>
#include <ranges>

namespace bank {

namespace errors = proteus::errors;

namespace {

constexpr std::size_t kMaxName = 128;
constexpr std::size_t kMaxTokens = 1000;
constexpr std::string_view kScheme = "bearer ";

bool is_name(std::string_view name) { return !name.empty() && name.size() <= kMaxName; }

bool has_scheme(std::string_view authorization) {
  return std::ranges::equal(authorization.substr(0, kScheme.size()), kScheme, {},
                            [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
}

}  // namespace

proteus::Result<Tokens> parse_tokens(std::string_view text) {
  Tokens tokens;
  for (const auto& part : std::views::split(text, ',')) {
    const std::string_view pair(part.begin(), part.end());
    const auto equals = pair.find('=');
    if (equals == std::string_view::npos || !is_name(pair.substr(0, equals)) || equals + 1 == pair.size()) {
      return std::unexpected(errors::invalid("must be name=token, and further ones after commas"));
    }
    if (!tokens.emplace(pair.substr(equals + 1), pair.substr(0, equals)).second) {
      return std::unexpected(errors::invalid("has the same token twice"));
    }
    if (tokens.size() > kMaxTokens) return std::unexpected(errors::too_large("the list of tokens", kMaxTokens));
  }
  if (tokens.empty()) return std::unexpected(errors::invalid("is empty"));
  return tokens;
}

proteus::Result<std::string> customer_with(const Tokens& tokens, std::string_view authorization) {
  if (has_scheme(authorization)) {
    const auto found = tokens.find(authorization.substr(kScheme.size()));
    if (found != tokens.end()) return found->second;
  }
  return std::unexpected(errors::unauthenticated("A customer's bearer token is needed"));
}

std::string customer_of(const proteus::server::Context& context, Identity identity) {
  switch (identity) {
    case Identity::shared: return "everyone";
    case Identity::by_token: return std::string(context.principal());
    case Identity::by_meta: break;
  }
  const auto* user = context.meta().if_contains("user");
  if (user == nullptr || !user->is_string() || !is_name(user->get_string())) return {};
  return std::string(user->get_string());
}

}  // namespace bank
