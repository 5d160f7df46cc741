#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <proteus/error.hpp>

#include "base/log/stranger_log.hpp"
#include "client/message/received.hpp"
#include "mcp/method.hpp"
#include "mcp/reply.hpp"

namespace proteus::client {

// One tool, prompt, resource or template: its name, URI or URI template, decoded, and its definition as the server
// wrote it.
struct Entry {
  std::string name;
  std::string_view definition;
};

// All pages of a list. The definitions point into `pages`, so code that keeps a definition keeps its page, too.
struct Listing {
  std::vector<Entry> entries;
  std::vector<std::shared_ptr<const void>> pages;
  // How a modern server lets the list be cached: the shortest time and the narrowest scope of all pages.
  std::optional<mcp::Caching> caching;
  // The error of a server that declares the list but does not know its method. The list is empty then.
  std::optional<Error> unimplemented = {};
};

struct ListLimits {
  std::size_t pages = 1000;
  std::size_t entries = 100'000;
  std::size_t bytes = std::size_t{256} << 20U;
};

// Puts a list together from its pages, which an untrusted server sends one by one.
class ListReader {
 public:
  ListReader(mcp::Method method, const ListLimits& limits, std::shared_ptr<StrangerLog> log)
      : method_(method), limits_(limits), log_(std::move(log)) {}

  // Adds a page. Returns the cursor of the next page as JSON text, or nothing if this was the last page. Fails if the
  // page is not a list, exceeds a limit or repeats a cursor.
  Result<std::optional<std::string>> add(const Received& page);
  Listing take() { return std::move(listing_); }
  // Returns the size of all pages so far.
  std::size_t bytes() const { return bytes_; }

 private:
  mcp::Method method_;
  ListLimits limits_;
  std::shared_ptr<StrangerLog> log_;
  std::size_t bytes_ = 0;
  std::set<std::string> cursors_;
  Listing listing_;
};

// Returns whether a server says that it does not know the method of a list. Many declare lists that they do not
// implement.
bool is_unimplemented(const Error& error);

}  // namespace proteus::client
