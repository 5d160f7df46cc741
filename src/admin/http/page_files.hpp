#pragma once

#include <span>
#include <string_view>

namespace proteus::admin {

// A file of the page as it is sent: compressed by the build.
struct PageFile {
  std::string_view path;  // "/ui/assets/main-3f2a.js"; "/ui" for the document itself
  std::string_view content_type;
  std::string_view entity_tag;  // of its content, with quotes
  std::string_view gzip;
};

// Those that the build made of ui/; none where it was told to leave the page out.
std::span<const PageFile> page_files();

}  // namespace proteus::admin
