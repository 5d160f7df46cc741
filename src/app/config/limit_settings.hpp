#pragma once

#include <chrono>

#include "base/settings/units.hpp"
#include "json/binding.hpp"

namespace proteus::app {

// [limits]
struct LimitSettings {
  unsigned meta_keys = 64;
  unsigned meta_depth = 8;
  ByteSize meta_bytes = kibibytes(16);
  unsigned list_pages = 1000;
  unsigned list_entries = 100'000;
  std::chrono::milliseconds debounce{200};
  unsigned parked_calls = 1000;
  unsigned parked_calls_per_principal = 16;
  std::chrono::milliseconds parked_for = std::chrono::minutes(5);
  unsigned calls_per_principal = 256;
  unsigned calls_per_upstream = 1024;
  unsigned requests_per_minute = 0;  // 0: no limit
  unsigned streams_per_principal = 64;
  unsigned programs = 256;
  unsigned programs_per_upstream = 64;
  std::chrono::milliseconds worker_stall{500};

  friend bool operator==(const LimitSettings&, const LimitSettings&) = default;
};

const json::Binding<LimitSettings>& limit_binding();

}  // namespace proteus::app
