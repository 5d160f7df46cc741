#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <mutex>
#include <unordered_map>

#include <boost/json/value.hpp>
#include <proteus/error.hpp>

#include "json/canonical.hpp"
#include "json/schema/schema.hpp"

namespace proteus::providers {

// Compiled schemas, each once however many tools have it: thousands of sessions register the same few. Keeps none of
// them alive. Thread-safe.
class SharedSchemas {
 public:
  using Pointer = std::shared_ptr<const json::Schema>;

  // As json::Schema::compile. Equal by value is equal, however it is written.
  Result<Pointer> compile(const boost::json::value& document);

  // How many are in use, or were until lately.
  std::size_t size() const;

 private:
  struct DigestHash {
    std::size_t operator()(const json::Digest& digest) const {
      std::size_t hash = 0;
      std::memcpy(&hash, digest.data(), sizeof hash);
      return hash;
    }
  };

  mutable std::mutex mutex_;
  std::unordered_map<json::Digest, std::weak_ptr<const json::Schema>, DigestHash> known_;
  std::size_t look_over_at_ = 64;  // so many before those no longer in use are taken out
};

}  // namespace proteus::providers
