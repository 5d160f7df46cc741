#pragma once

#include <string>

#include <proteus/error.hpp>

// Plays the user's browser in the conformance suite: requests the URL, and returns the target of the redirect.
proteus::Result<std::string> visit(const std::string& url);
