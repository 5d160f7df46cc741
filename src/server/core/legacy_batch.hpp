#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "json/message.hpp"
#include "server/core/service.hpp"
#include "server/core/session.hpp"

// Arrays of messages, which only 2025-03-26 has.
namespace proteus::server {

// The scanned elements of an array, or why one of them could not be scanned. They refer to the text.
using Batch = std::vector<Result<json::Message>>;
// Scans an array and its elements. Fails if there are none or too many.
Result<Batch> scan_batch(std::string_view text, const json::ScanLimits& limits);

struct BatchHandling {
  // Answers a request; see `answer_request`.
  std::function<Task<std::string>(json::Message&)> answer;
  // Called with each answer.
  std::function<void(std::string)> send;
};

// Handles the elements of a batch one after the other. `in_flight` has the client's running requests. Everything given
// must outlive the task, as must the text of the batch.
Task<> run_batch(Batch batch, Session& session, InFlight& in_flight, Service& service, const BatchHandling& handling);

}  // namespace proteus::server
