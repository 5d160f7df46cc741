#pragma once

#include "toml/document.hpp"

namespace proteus::app {

using Position = toml::Position;
using TomlDocument = toml::Document;

}  // namespace proteus::app
