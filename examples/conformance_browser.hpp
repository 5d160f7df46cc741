#pragma once

#include <string>

#include <proteus/error.hpp>

// The user of the conformance suite: goes to the URL as a browser would, and says where it was redirected to.
proteus::Result<std::string> visit(const std::string& url);
