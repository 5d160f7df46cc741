#pragma once

#include <functional>

#include <boost/asio/awaitable.hpp>
#include <proteus/server.hpp>

// Coroutine handlers: they may wait without holding up other requests, and are cancelled when the client cancels.
//
// NOT SAFE WITH g++ 12: it destroys temporaries in co_await expressions twice. Compile coroutine handlers with clang 19
// or a newer g++. Plain handlers (<proteus/server.hpp>) are not affected.
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ <= 12
#warning "g++ 12 miscompiles coroutines; use clang 19 for files that include <proteus/server_async.hpp>"
#endif

namespace proteus::server {

template <class T>
using AsyncHandler = std::function<boost::asio::awaitable<Outcome<T>>(Context&)>;

Result<> add_async_tool(Server& server, Tool tool, AsyncHandler<ToolResult> handler);
Result<> add_async_prompt(Server& server, Prompt prompt, AsyncHandler<PromptResult> handler);
Result<> add_async_resource(Server& server, Resource resource, AsyncHandler<ResourceResult> handler);
Result<> add_async_resource_template(Server& server, ResourceTemplate resource_template,
                                     AsyncHandler<ResourceResult> handler);

}  // namespace proteus::server
