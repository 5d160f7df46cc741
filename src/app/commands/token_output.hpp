#pragma once

#include <string>

#include <boost/json/value.hpp>

#include "app/commands/terminal.hpp"

// Formats answers of the admin API about tokens for people. Does not trust the structure of the answers.
namespace proteus::app {

std::string show_tokens(const boost::json::value& answer, const Terminal& terminal);
// Returns the secret of a token that was made or rotated; empty if there is none.
std::string secret_of(const boost::json::value& answer);
// Returns one line with the name and the expiry of such a token.
std::string about_issued(const boost::json::value& answer);
// Whether the store has recorded what the answer says.
bool is_durable(const boost::json::value& answer);

}  // namespace proteus::app
