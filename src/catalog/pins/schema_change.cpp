#include "catalog/pins/schema_change.hpp"

#include "catalog/pins/narrowing.hpp"
#include "catalog/pins/schema_keywords.hpp"

namespace proteus::catalog {

std::vector<std::string> breaking_changes(const boost::json::value& before, const boost::json::value& after,
                                          SchemaOf direction) {
  const bool whole = refers_to_annotations(before) || refers_to_annotations(after);
  const boost::json::value old = whole ? before : without_annotations(before);
  const boost::json::value now = whole ? after : without_annotations(after);
  if (old == now) return {};
  Narrowing narrowing(direction, inverts(old) || inverts(now));
  if (direction == SchemaOf::input) {
    narrowing.compare(old, now);
  } else {
    narrowing.compare(now, old);
  }
  return narrowing.take();
}

}  // namespace proteus::catalog
