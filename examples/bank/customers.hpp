#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include <proteus/server.hpp>

namespace bank {

// How customers are told apart.
enum class Identity : std::uint8_t {
  by_meta,   // by `user` in the request's `_meta`: a front end that is trusted speaks for all of them
  by_token,  // by a bearer token of each
  shared,    // not at all: all are one
};

// Bearer tokens, and whose each is.
using Tokens = std::map<std::string, std::string, std::less<>>;

// Reads `name=token,name=token`.
proteus::Result<Tokens> parse_tokens(std::string_view text);
// The customer an Authorization header names.
proteus::Result<std::string> customer_with(const Tokens& tokens, std::string_view authorization);

// The customer a request is from; empty where it does not say. Nothing but the request decides.
std::string customer_of(const proteus::server::Context& context, Identity identity);

}  // namespace bank
