#pragma once

#include "catalog/contexts/disclosure.hpp"
#include "json/binding.hpp"

namespace proteus::gateway {

// Reads and writes a Disclosure in settings.
inline json::Codec<catalog::Disclosure> disclosure_choice() {
  using catalog::Disclosure;
  return json::choice<Disclosure>({{"all", Disclosure::all}, {"search", Disclosure::search}});
}

}  // namespace proteus::gateway
