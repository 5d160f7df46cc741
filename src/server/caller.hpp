#pragma once

#include <string>

namespace proteus::server {

// Who is asking, as the transport found out. Sessions and request states belong to one caller.
struct Caller {
  std::string principal;  // empty: anonymous

  friend bool operator==(const Caller&, const Caller&) = default;
};

}  // namespace proteus::server
