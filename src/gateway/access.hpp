#pragma once

#include <memory>
#include <set>
#include <string>

#include "gateway/principal.hpp"

namespace proteus::gateway {

// Who may ask, and for what: replaced as a whole by a reload.
struct Access {
  std::shared_ptr<const Principals> principals;
  std::set<std::string, std::less<>> contexts;  // besides the plain one
};

}  // namespace proteus::gateway
