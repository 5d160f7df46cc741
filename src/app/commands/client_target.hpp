#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include <proteus/client.hpp>
#include <proteus/error.hpp>

namespace proteus::app {

// The options of `proteus client` that say which server, and how it is spoken to.
struct ClientTarget {
  std::string url;                   // or stdio:<command>, or empty where `command` is given
  std::vector<std::string> command;  // a program and its arguments
  std::vector<std::string> headers;  // "Name: value"
  std::string bearer_variable;
  std::string timeout;  // "30s"
  std::string era = "auto";
  std::string transport = "auto";
  std::string ca_file;
  bool uses_sign_in = true;  // that `proteus client login` kept, unless other credentials are given

  // Fails where one of them is unusable.
  Result<client::McpServer::Builder> builder() const;
};

// The words of a command line: separated by spaces, quoted with ' or ".
Result<std::vector<std::string>> split_words(std::string_view text);

}  // namespace proteus::app
