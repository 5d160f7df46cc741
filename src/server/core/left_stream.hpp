#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/core/event_store.hpp"

// What becomes of a stream whose process has ended, for a client that comes back for the rest of it. Pure functions.
namespace proteus::server {

// What follows an event; nothing where events in between are no longer kept.
std::optional<std::vector<KeptEvent>> rest_of(const LeftStream& left, std::uint64_t after);

// The requests of a stream that it does not answer: their JSON-RPC ids, as written.
std::vector<std::string> unanswered(const LeftStream& left);

// The answer to a request that was under way when its process ended.
std::string answer_of_ended_process(std::string_view request);

}  // namespace proteus::server
