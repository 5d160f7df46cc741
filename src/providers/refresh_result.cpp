#include "providers/refresh_result.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "json/text.hpp"

namespace proteus::providers {

std::string write_refresh_result(const RefreshResult& result) {
  std::string out =
      fmt::format(R"({{"upstream":{},"ok":{},"at":"{:%FT%TZ}","duration_ms":{})", json::quote(result.upstream.value()),
                  result.ok(), std::chrono::floor<std::chrono::milliseconds>(result.at), result.duration.count());
  if (result.error) fmt::format_to(std::back_inserter(out), R"(,"error":{})", json::quote(result.error->message()));
  out += ',';
  out += catalog::write_change(result.change);
  out += '}';
  return out;
}

}  // namespace proteus::providers
