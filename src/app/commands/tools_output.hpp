#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <boost/json/value.hpp>

#include "app/commands/terminal.hpp"

// Formats answers of the admin API about tools for people. Does not trust the structure of the answers.
namespace proteus::app {

// Returns a table, or a paragraph for each tool if the answer explains the parts of descriptions.
std::string show_tools(const boost::json::value& answer, const Terminal& terminal);
// Returns the warnings for operators, which include upstreams that did not answer.
std::vector<std::string> warnings_of(const boost::json::value& answer);

// Returns the proposals, with what each of them would change.
std::string show_proposals(const boost::json::value& answer, const Terminal& terminal);
std::vector<std::string> proposal_ids(const boost::json::value& answer);
// Returns the ids of the proposals whose texts the list omits.
std::vector<std::string> shortened_proposals(const boost::json::value& answer);
// Replaces a proposal in the list; null removes it.
void replace_proposal(boost::json::value& answer, std::string_view id, boost::json::value by);
std::string show_decision(const boost::json::value& answer);

}  // namespace proteus::app
