#pragma once

#include <span>
#include <string_view>

namespace proteus::admin {

// A file of the page, compressed by the build.
struct PageFile {
  std::string_view path;  // "/ui/assets/main-3f2a.js"; "/ui" for the document itself
  std::string_view content_type;
  std::string_view entity_tag;  // of its content, with quotes
  std::string_view gzip;
};

// Returns the files that the build made of ui/; none if it was configured to leave the page out.
std::span<const PageFile> page_files();

}  // namespace proteus::admin
