#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include <proteus/server.hpp>

namespace bank {

// How the bank identifies customers.
enum class Identity : std::uint8_t {
  by_meta,   // by `user` in the request's `_meta`, from a front end that is trusted to speak for its users
  by_token,  // by the customer's bearer token
  shared,    // not at all: all callers are one customer
};

// Customers by bearer token.
using Tokens = std::map<std::string, std::string, std::less<>>;

// Reads `name=token,name=token`.
proteus::Result<Tokens> parse_tokens(std::string_view text);
// Returns the customer of an Authorization header. Fails if the token is missing or unknown.
proteus::Result<std::string> customer_with(const Tokens& tokens, std::string_view authorization);

// Returns the customer of a request; empty if the request does not name one. Depends only on the request, never on the
// connection.
std::string customer_of(const proteus::server::Context& context, Identity identity);

}  // namespace bank
