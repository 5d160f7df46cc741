#pragma once

#include <iosfwd>

#include <proteus/client.hpp>

namespace proteus::app {

// Asks the person at the terminal whether to accept, and if so for the fields of the form, one by one. An empty line
// takes the default or omits an optional field. The end of input cancels.
client::ElicitationAnswer ask_user(const client::Elicitation& elicitation, std::istream& in, std::ostream& out);

// Shows the URL that the server wants opened, and asks for consent. Does not open it.
client::ElicitationAnswer ask_to_open(const client::Elicitation& elicitation, std::istream& in, std::ostream& out);

}  // namespace proteus::app
