#pragma once

#include <expected>
#include <functional>
#include <optional>
#include <string>

#include <proteus/error.hpp>

#include "base/task.hpp"
#include "net/http_server/request.hpp"
#include "server/core/caller.hpp"

namespace proteus::server {

// Why a request is turned away before anything of it is read.
struct Refusal {
  // 404 where there is nothing to find, 401 for anything else.
  Refusal(Error why);  // NOLINT(google-explicit-constructor): every error is one
  Refusal(unsigned status, Error why, std::string challenge);

  unsigned status = 401;
  Error error;
  std::string challenge;  // how to come back: the value of WWW-Authenticate; empty for none
};

// Who sends a request, or why it is turned away.
using Admission = std::expected<Caller, Refusal>;

// How an endpoint gets to know its callers. Called on the worker's thread, before a body is read.
struct Doorkeeper {
  // Nothing where that takes waiting: `wait` says it then.
  std::function<std::optional<Admission>(const net::Request&)> look;
  std::function<Task<Admission>(const net::Request&)> wait;

  // Without one everyone is anonymous.
  explicit operator bool() const { return look != nullptr; }
};

}  // namespace proteus::server
