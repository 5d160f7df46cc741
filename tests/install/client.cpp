// An MCP client, as a user of the installed library writes it.
//
// Connects to the URL it is given, lists the tools, calls `add` with 40 and 2, and prints "add(40, 2) = 42".
#include <cstdio>

int main(int, char**) {
  std::puts("not written yet: it waits for the public headers of proteus::client");
  return 1;
}
