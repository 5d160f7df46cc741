#pragma once

#include <memory>

#include "catalog/contexts.hpp"
#include "gateway/principal.hpp"

namespace proteus::gateway {

// Who may ask, and for what: replaced as a whole by a reload.
struct Access {
  std::shared_ptr<const Principals> principals;
  catalog::Contexts::Pointer contexts;  // besides the plain one; null for none
};

}  // namespace proteus::gateway
