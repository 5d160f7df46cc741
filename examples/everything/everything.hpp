#pragma once

#include <proteus/server.hpp>

// A server with every feature of the protocol, for the conformance suite and our tests.
namespace everything {

// A 1x1 red pixel, and a tenth of a millisecond of silence.
inline constexpr std::string_view kPng =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
inline constexpr std::string_view kWav = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAAAAA==";

void add_plain_tools(proteus::server::Server& server);
void add_waiting_tools(proteus::server::Server& server);
void add_asking_tools(proteus::server::Server& server);
void add_changing_tools(proteus::server::Server& server);
void add_prompts(proteus::server::Server& server);
void add_resources(proteus::server::Server& server);

// Adds the tools for benchmarks: a raw tool that returns its argument, and further tools up to `tools` in all. If
// `tools` is 0, also adds a tool that reports progress before it answers.
void add_bench_tools(proteus::server::Server& server, std::size_t tools);

}  // namespace everything
