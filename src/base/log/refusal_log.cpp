#include "base/log/refusal_log.hpp"

#include <string>

#include "base/log/log.hpp"

namespace proteus {

std::string_view to_string(RefusalReason reason) {
  switch (reason) {
    case RefusalReason::token: return "token";
    case RefusalReason::rule: return "rule";
    case RefusalReason::admin_secret: return "admin_secret";
    case RefusalReason::host: return "host";
    case RefusalReason::origin: return "origin";
    case RefusalReason::context: return "context";
    case RefusalReason::scope: return "scope";
    case RefusalReason::limit: return "limit";
    case RefusalReason::malformed: return "malformed";
  }
  return "malformed";
}

void RefusalLog::add(const RefusedRequest& refused, const std::source_location& where) {
  Tally& tally = of(refused.reason);
  tally.refused.fetch_add(1, std::memory_order_relaxed);
  const auto unwritten = tally.lines.take(clock_.recent());
  if (!unwritten) return;
  log::event(log::Level::info, "a request was refused",
             {{"reason", std::string(to_string(refused.reason))},
              {"why", log::printable(refused.why)},
              {"peer", std::string(refused.peer)},
              {"path", log::printable(refused.path, 128)},
              {"principal", log::printable(refused.principal, 64)},
              {"unwritten", *unwritten > 0 ? std::to_string(*unwritten) : ""}},
             where);
}

}  // namespace proteus
