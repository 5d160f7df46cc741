#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/secrets/secret.hpp"
#include "json/canonical.hpp"

namespace proteus::admin {

// What the holder of a key may do: everything, or only read.
enum class Role : std::uint8_t { admin, viewer };

struct AdminKey {
  std::string name;  // recorded in the audit
  Secret secret;
  Role role = Role::admin;
};

// The keys of the admin API. Immutable. Keeps only hashes, and compares with all of them in constant time.
class AdminKeys {
 public:
  // Ignores keys with an empty secret.
  explicit AdminKeys(const std::vector<AdminKey>& keys);

  struct Entry {
    std::string name;
    json::Digest digest;
    Role role;
  };

  static json::Digest digest(std::string_view secret) { return json::sha256(secret); }
  // Returns the key whose secret has this digest, or null.
  const Entry* find(const json::Digest& digest) const;

 private:
  std::vector<Entry> entries_;
};

}  // namespace proteus::admin
