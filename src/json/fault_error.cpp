#include "json/fault_error.hpp"

#include <fmt/format.h>

#include "json/text.hpp"

namespace proteus::errors {

Error faults(std::string_view what, std::span<const json::Fault> all) {
  std::string data;
  for (const auto& fault : all) {
    data += fmt::format(R"({}{{"pointer":{},"message":{}}})", data.empty() ? "[" : ",", json::quote(fault.pointer),
                        json::quote(fault.message));
  }
  data += "]";
  const json::Fault& first = all.front();
  std::string text =
      all.size() == 1 ? fmt::format("{}: ", what) : fmt::format("{} has {} faults; the first: ", what, all.size());
  if (!first.path.empty()) text += first.path + ": ";
  return invalid(text + first.message).with_data(std::move(data));
}

}  // namespace proteus::errors
