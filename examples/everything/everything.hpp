#pragma once

#include <proteus/server.hpp>

// A server that offers something of everything the protocol has: the fixture of the conformance suite.
namespace everything {

// 1x1 red pixel, and a tenth of a millisecond of silence.
inline constexpr std::string_view kPng =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
inline constexpr std::string_view kWav = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAAAAA==";

void add_plain_tools(proteus::server::Server& server);
void add_waiting_tools(proteus::server::Server& server);
void add_asking_tools(proteus::server::Server& server);
void add_changing_tools(proteus::server::Server& server);
void add_prompts(proteus::server::Server& server);
void add_resources(proteus::server::Server& server);

// For measuring: a raw tool that answers with its argument, and as many tools to be listed as asked for; where none
// are, also a tool that reports progress before it answers.
void add_bench_tools(proteus::server::Server& server, std::size_t tools);

}  // namespace everything
