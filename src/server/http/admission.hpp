#pragma once

#include <expected>
#include <functional>
#include <optional>
#include <string>

#include <proteus/error.hpp>

#include "base/tasks/task.hpp"
#include "net/http_server/request.hpp"
#include "server/core/caller.hpp"

namespace proteus::server {

// Why a request is rejected before its body is read.
struct Refusal {
  // Status 404 for `not_found`; 401 with the challenge `Bearer` for any other error.
  Refusal(Error why);  // NOLINT(google-explicit-constructor): every error is one
  Refusal(unsigned status, Error why, std::string challenge);

  unsigned status = 401;
  Error error;
  std::string challenge;  // value of WWW-Authenticate; empty for none
};

// The caller of a request, or why the request is rejected.
using Admission = std::expected<Caller, Refusal>;

// Authenticates the callers of an endpoint. Called on the worker's thread, before a body is read.
struct Doorkeeper {
  // Returns nothing if the decision requires waiting; then `wait` must be called.
  std::function<std::optional<Admission>(const net::Request&)> look;
  std::function<Task<Admission>(const net::Request&)> wait;

  // False if every caller is anonymous.
  explicit operator bool() const { return look != nullptr; }
};

}  // namespace proteus::server
