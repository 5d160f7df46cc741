#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <proteus/error.hpp>

#include "base/task.hpp"
#include "catalog/definitions/kind.hpp"
#include "client/connection/connection.hpp"
#include "client/message/listing.hpp"

namespace proteus::client {

// Why a list that a server declares is not there.
struct ListFault {
  enum class Cause : std::uint8_t {
    unimplemented,  // it does not know the method: the list is empty, and asking again is of no use
    failed,         // it could not be read; it is asked for again
  };

  catalog::Kind kind{};
  Cause cause{};
  std::string message;  // names the method, unless it is about the server as a whole

  friend bool operator==(const ListFault&, const ListFault&) = default;
};

std::string_view to_string(ListFault::Cause cause);

// What came of reading the lists of a server. Each kind stands for itself.
struct AllLists {
  catalog::PerKind<std::optional<Listing>> lists;  // nothing where it could not be read, or was not asked for
  std::vector<ListFault> faults;                   // in the order of the kinds
  std::optional<Error> failure;                    // the first of those to be asked for again
  bool any = true;                                 // whether a list was read; otherwise all that it offers has failed
};

// Reads lists, each with all its pages, within as many time-outs as there are kinds; where one of them is not there in
// time, the others have one more. They are read one after the other until one is too slow, and the rest side by side.
// Each request has these members in its `_meta`. What the server does not offer is an empty list.
Task<AllLists> read_all_lists(Connection& connection, catalog::KindSet kinds, std::string meta = {});

// Tells an operator of lists that are declared and not implemented, where that is new.
void log_unimplemented(std::string_view server, const std::vector<ListFault>& before,
                       const std::vector<ListFault>& now);

}  // namespace proteus::client
