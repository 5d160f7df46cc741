#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "server/core/service.hpp"
#include "server/core/session.hpp"

// Arrays of messages, which only 2025-03-26 has.
namespace proteus::server {

// Splits an array into its elements. Fails if there are none or too many.
Result<std::vector<std::string_view>> split_batch(std::string_view text, const json::ScanLimits& limits);

struct BatchHandling {
  // Answers a request; see `answer_request`.
  std::function<Task<std::string>(json::Message&)> answer;
  // Called with each answer.
  std::function<void(std::string)> send;
};

// Handles the elements of a batch one after the other. `in_flight` has the client's running requests. Everything given
// must outlive the task.
Task<> run_batch(const std::vector<std::string_view>& batch, const json::ScanLimits& limits, Session& session,
                 InFlight& in_flight, Service& service, const BatchHandling& handling);

}  // namespace proteus::server
