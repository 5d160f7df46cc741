#pragma once

#include <iosfwd>

#include <proteus/client.hpp>

namespace proteus::app {

// Asks a person at a terminal what a server wants to know, field by field. An empty line takes the default, or leaves
// an optional field out; the end of input cancels.
client::ElicitationAnswer ask_user(const client::Elicitation& elicitation, std::istream& in, std::ostream& out);

// Shows a URL the server wants opened, and asks for consent. It is not opened here.
client::ElicitationAnswer ask_to_open(const client::Elicitation& elicitation, std::istream& in, std::ostream& out);

}  // namespace proteus::app
