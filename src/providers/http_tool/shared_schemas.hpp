#pragma once

#include <boost/json/value.hpp>
#include <proteus/error.hpp>

#include "json/schema/schema.hpp"
#include "json/shared_by_digest.hpp"

namespace proteus::providers {

// Compiles schemas, each once however many tools have it: thousands of sessions register the same few. Keeps no schema
// alive. Thread-safe.
class SharedSchemas {
 public:
  using Pointer = std::shared_ptr<const json::Schema>;

  // Like json::Schema::compile. Schemas of equal value are shared, however they are written.
  Result<Pointer> compile(const boost::json::value& document);
  // Returns how many schemas are in use, or were until lately.
  std::size_t size() const { return known_.size(); }

 private:
  json::SharedByDigest<json::Schema> known_;
};

}  // namespace proteus::providers
