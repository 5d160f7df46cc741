#pragma once

#include "base/log.hpp"
#include "json/binding.hpp"

namespace proteus::app {

// [log]
const json::Binding<log::Settings>& log_binding();

}  // namespace proteus::app
