#pragma once

#include <cstdint>

#include "json/binding.hpp"

namespace proteus::app {

// Where records of calls are kept.
enum class RecordsKept : std::uint8_t { off, memory };

// [telemetry]
struct TelemetrySettings {
  RecordsKept records = RecordsKept::off;

  friend bool operator==(const TelemetrySettings&, const TelemetrySettings&) = default;
};

const json::Binding<TelemetrySettings>& telemetry_binding();

}  // namespace proteus::app
