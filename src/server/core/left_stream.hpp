#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/core/event_store.hpp"

// For a client that resumes a stream whose process has ended. Pure functions.
namespace proteus::server {

// Returns the events after the event `after`; nothing if events in between are no longer kept.
std::optional<std::vector<KeptEvent>> rest_of(const LeftStream& left, std::uint64_t after);

// Returns the requests of a stream that have no answer in it, as JSON-RPC ids as written.
std::vector<std::string> unanswered(const LeftStream& left);

// Returns the answer to a request that was running when its process ended.
std::string answer_of_ended_process(std::string_view request);

}  // namespace proteus::server
