#pragma once

#include <span>
#include <string_view>

namespace proteus {

// A file that the build compiled into the program; see cmake/Embed.cmake.
struct EmbeddedFile {
  std::string_view name;
  std::string_view content;
};

}  // namespace proteus
