#include "app/config/limit_settings.hpp"

namespace proteus::app {

const json::Binding<LimitSettings>& limit_binding() {
  using S = LimitSettings;
  using json::duration;
  using json::field;
  constexpr std::int64_t kMany = 10'000'000;
  const auto count = json::integer<unsigned>(1, kMany);
  static const json::Binding<S> binding{
      field("meta_keys", &S::meta_keys, count, "Keys in a request's `_meta`, at all depths together."),
      field("meta_depth", &S::meta_depth, json::integer<unsigned>(1, 128), "Nesting depth of `_meta`."),
      field("meta_bytes", &S::meta_bytes, json::size(ByteSize(64), mebibytes(16)), "Size of `_meta`."),
      field("list_pages", &S::list_pages, count, "Pages per list of an upstream."),
      field("list_entries", &S::list_entries, count, "Entries per list of an upstream."),
      field("debounce", &S::debounce, duration(json::Zero::allowed),
            "Changes within this time cause one notification."),
      field("parked_calls", &S::parked_calls, count, "Calls that wait for a client's input, in total."),
      field("parked_calls_per_principal", &S::parked_calls_per_principal, count, "The same, per principal."),
      field("parked_for", &S::parked_for, duration(), "How long a call waits for input."),
      field("calls_per_principal", &S::calls_per_principal, count, "Concurrent calls per principal."),
      field("calls_per_upstream", &S::calls_per_upstream, count, "Concurrent calls per upstream."),
      field("requests_per_minute", &S::requests_per_minute, json::integer<unsigned>(0, kMany),
            "Requests per minute and principal; 0 for no limit."),
      field("streams_per_principal", &S::streams_per_principal, count, "Open streams per principal."),
      field("programs", &S::programs, count,
            "Programs that run for single callers, for all upstreams together; Proteus ends idle ones to make room."),
      field("programs_per_upstream", &S::programs_per_upstream, count, "The same, per upstream."),
      field("worker_stall", &S::worker_stall, duration(),
            "CPU time of one handler on a worker thread above which Proteus logs and counts a stall."),
  };
  return binding;
}

}  // namespace proteus::app
