#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "app/config/listen_address.hpp"
#include "base/settings/units.hpp"
#include "json/binding.hpp"

// [server], [sessions] and [egress]
namespace proteus::app {

struct TlsSettings {
  std::string certificate;  // PEM files; both or none
  std::string key;

  bool enabled() const { return !certificate.empty(); }
  friend bool operator==(const TlsSettings&, const TlsSettings&) = default;
};

struct ServerSettings {
  ListenAddress listen;
  unsigned threads = 0;  // 0: one per core
  std::vector<std::string> allowed_origins;
  std::vector<std::string> allowed_hosts;
  bool old_sse = false;
  ByteSize max_body = mebibytes(4);
  unsigned page_size = 1000;
  std::chrono::milliseconds grace = std::chrono::seconds(10);
  TlsSettings tls;
  std::optional<ListenAddress> ops_listen;
  std::vector<std::string> trusted_proxies;
  std::string public_url;  // URL that clients use; empty: that of the listener

  friend bool operator==(const ServerSettings&, const ServerSettings&) = default;
};

enum class EventStore : std::uint8_t { memory };

struct SessionSettings {
  std::chrono::milliseconds idle_timeout = std::chrono::minutes(30);
  std::chrono::milliseconds http_timeout = std::chrono::seconds(50);
  EventStore event_store = EventStore::memory;
  unsigned events_per_stream = 1000;

  friend bool operator==(const SessionSettings&, const SessionSettings&) = default;
};

struct EgressSettings {
  bool allow_private = false;
  std::vector<std::string> allow;  // CIDRs, addresses, or host names

  friend bool operator==(const EgressSettings&, const EgressSettings&) = default;
};

const json::Binding<ServerSettings>& server_binding();
const json::Binding<SessionSettings>& session_binding();
const json::Binding<EgressSettings>& egress_binding();

}  // namespace proteus::app
