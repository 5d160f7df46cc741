#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <boost/json/value.hpp>

#include "app/commands/terminal.hpp"

// Answers of the admin API about tools, for people. Nothing in them is trusted to have the right shape.
namespace proteus::app {

// A table, or, where parts are explained, a paragraph for each tool.
std::string show_tools(const boost::json::value& answer, const Terminal& terminal);
// What an operator should look at, upstreams that did not answer among it.
std::vector<std::string> warnings_of(const boost::json::value& answer);

// What waits for a decision, with what it would change.
std::string show_proposals(const boost::json::value& answer, const Terminal& terminal);
std::vector<std::string> proposal_ids(const boost::json::value& answer);
// Those whose texts are left out, and one in its place; null for one that has gone.
std::vector<std::string> shortened_proposals(const boost::json::value& answer);
void replace_proposal(boost::json::value& answer, std::string_view id, boost::json::value by);
std::string show_decision(const boost::json::value& answer);

}  // namespace proteus::app
