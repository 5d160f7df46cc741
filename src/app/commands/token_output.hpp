#pragma once

#include <string>

#include <boost/json/value.hpp>

#include "app/commands/terminal.hpp"

// Answers of the admin API about tokens, for people. Nothing in them is trusted to have the right shape.
namespace proteus::app {

std::string show_tokens(const boost::json::value& answer, const Terminal& terminal);
// The secret of one that was made or rotated; empty where there is none.
std::string secret_of(const boost::json::value& answer);
// What else is to be known about it, on one line.
std::string about_issued(const boost::json::value& answer);
// Whether the store has recorded what the answer says.
bool is_durable(const boost::json::value& answer);

}  // namespace proteus::app
