// An MCP server with plain handlers, as a user of the installed library writes it: g++ 12 is not safe for
// coroutines.
//
// Serves on a free port, prints "listening on <url>", and ends on SIGTERM. It has one tool, `add(a, b)`.
#include <cstdio>

int main() {
  std::puts("not written yet: it waits for the public headers of proteus::server");
  return 1;
}
