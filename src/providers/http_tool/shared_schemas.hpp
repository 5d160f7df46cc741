#pragma once

#include <boost/json/value.hpp>
#include <proteus/error.hpp>

#include "json/schema/schema.hpp"
#include "json/shared_by_digest.hpp"

namespace proteus::providers {

// Compiled schemas, each once however many tools have it: thousands of sessions register the same few. Keeps none of
// them alive. Thread-safe.
class SharedSchemas {
 public:
  using Pointer = std::shared_ptr<const json::Schema>;

  // As json::Schema::compile. Equal by value is equal, however it is written.
  Result<Pointer> compile(const boost::json::value& document);
  // How many are in use, or were until lately.
  std::size_t size() const { return known_.size(); }

 private:
  json::SharedByDigest<json::Schema> known_;
};

}  // namespace proteus::providers
