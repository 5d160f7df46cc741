#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <proteus/error.hpp>

#include "base/tasks/task.hpp"
#include "catalog/definitions/kind.hpp"
#include "client/connection/connection.hpp"
#include "client/message/listing.hpp"

namespace proteus::client {

// Why a list that a server declares could not be read.
struct ListFault {
  enum class Cause : std::uint8_t {
    unimplemented,  // the server does not know the method: the list is empty, and retrying does not help
    failed,         // reading failed and is retried
  };

  catalog::Kind kind{};
  Cause cause{};
  std::string message;  // names the method, unless the error concerns the whole server

  friend bool operator==(const ListFault&, const ListFault&) = default;
};

std::string_view to_string(ListFault::Cause cause);

// The outcome of reading the lists of a server. Each kind succeeds or fails on its own.
struct AllLists {
  catalog::PerKind<std::optional<Listing>> lists;   // nothing for kinds that failed or were not requested
  catalog::PerKind<std::optional<Error>> failures;  // why kinds failed
  std::vector<ListFault> faults;                    // in the order of the kinds
  std::optional<Error> failure;                     // the first error that is to be retried
  bool any = true;                                  // false if every list that the server offers failed
};

// Reads lists, each with all its pages. Reads them one after the other, within a total of one time-out per list that
// the server offers. If one of them times out, reads the rest concurrently, within one more time-out. `meta` has more
// members for the `_meta` of each request. A list that the server does not offer is empty.
Task<AllLists> read_all_lists(Connection& connection, catalog::KindSet kinds, std::string meta = {});

// Logs lists that the server declares but does not implement, unless they are in `before`.
void log_unimplemented(std::string_view server, const std::vector<ListFault>& before,
                       const std::vector<ListFault>& now);

}  // namespace proteus::client
