#pragma once

#include "app/config/config.hpp"
#include "json/binding.hpp"

namespace proteus::app {

// All sections of the file. Sections that depend on others are still unread JSON: those pointers point into the
// document.
struct Sections {
  using Unread = const boost::json::value*;

  ServerSettings server;
  AuthSettings auth;
  AdminSettings admin;
  SessionSettings sessions;
  EgressSettings egress;
  LimitSettings limits;
  log::Settings log;
  Unread upstream_defaults = nullptr;
  Unread upstreams = nullptr;
  DatasetSettings datasets;
  SearchSettings search;
  ClusterSettings cluster;
  TelemetrySettings telemetry;
  Unread contexts = nullptr;
  Unread schemas = nullptr;
};

const json::Binding<Sections>& sections_binding();

}  // namespace proteus::app
