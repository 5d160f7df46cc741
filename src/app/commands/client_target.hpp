#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include <proteus/client.hpp>
#include <proteus/error.hpp>

namespace proteus::app {

// The options of `proteus client` that select the server and the way to connect to it.
struct ClientTarget {
  std::string url;                   // or stdio:<command>; empty if `command` is given
  std::vector<std::string> command;  // a program and its arguments
  std::vector<std::string> headers;  // "Name: value"
  std::string bearer_variable;
  std::string timeout;  // "30s"
  std::string era = "auto";
  std::string transport = "auto";
  std::string ca_file;
  bool uses_sign_in = true;  // whether to use a saved sign-in if no other credentials are given

  // Fails if an option is unusable.
  Result<client::McpServer::Builder> builder() const;
};

// Splits a command line into words, which are separated by spaces and may be quoted with ' or ".
Result<std::vector<std::string>> split_words(std::string_view text);

}  // namespace proteus::app
