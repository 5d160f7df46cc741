#include "app/config/telemetry_settings.hpp"

namespace proteus::app {

const json::Binding<TelemetrySettings>& telemetry_binding() {
  using S = TelemetrySettings;
  static const json::Binding<S> binding{
      json::field(
          "records", &S::records,
          json::choice<RecordsKept>({{"off", RecordsKept::off}, {"memory", RecordsKept::memory}}),
          "Whether to keep the last 100 calls of each upstream in memory: when, who, which name, how it ended and "
          "how long it took; neither arguments nor results."),
  };
  return binding;
}

}  // namespace proteus::app
