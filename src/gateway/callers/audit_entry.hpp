#pragma once

#include <string>
#include <utility>

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include "base/clock.hpp"
#include "store/records.hpp"
#include "store/time.hpp"

namespace proteus::gateway {

// Returns the audit entry of something that somebody does now. `detail` is shown to operators.
inline store::AppendAudit audit_entry(const Clock& clock, std::string who, std::string what,
                                      const boost::json::object& detail) {
  return {{.number = 0,
           .at = store::to_time(clock.wall()),
           .who = std::move(who),
           .what = std::move(what),
           .detail = boost::json::serialize(detail)}};
}

}  // namespace proteus::gateway
