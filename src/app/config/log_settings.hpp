#pragma once

#include "base/log/log.hpp"
#include "json/binding.hpp"

namespace proteus::app {

// [log]
const json::Binding<log::Settings>& log_binding();

}  // namespace proteus::app
