#pragma once

#include <memory>
#include <string>

#include "base/clock.hpp"

namespace proteus::server {

// What whoever authenticates callers wants to find again when one asks.
struct Grant {
  virtual ~Grant() = default;
};

// Who is asking, as the transport found out. Sessions and request states belong to one caller.
struct Caller {
  std::string principal = {};  // empty: anonymous
  std::string context = {};    // the part of the server that is spoken to; empty: all of it
  std::shared_ptr<const Grant> grant = {};
  Clock::Wall until = Clock::Wall::max();  // when its credentials end

  friend bool operator==(const Caller& a, const Caller& b) {
    return a.principal == b.principal && a.context == b.context;
  }
};

}  // namespace proteus::server
