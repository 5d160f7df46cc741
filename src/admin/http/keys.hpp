#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/secret.hpp"
#include "json/canonical.hpp"

namespace proteus::admin {

// What the holder of a key may do: everything, or look.
enum class Role : std::uint8_t { admin, viewer };

struct AdminKey {
  std::string name;  // goes into the audit
  Secret secret;
  Role role = Role::admin;
};

// Who may use the admin API. Immutable. Keeps hashes only, and compares with all of them, so that time tells nothing.
class AdminKeys {
 public:
  // An empty secret opens nothing.
  explicit AdminKeys(const std::vector<AdminKey>& keys);

  struct Entry {
    std::string name;
    json::Digest digest;
    Role role;
  };

  static json::Digest digest(std::string_view secret) { return json::sha256(secret); }
  // The key whose secret has this digest; null where it is none's.
  const Entry* find(const json::Digest& digest) const;

 private:
  std::vector<Entry> entries_;
};

}  // namespace proteus::admin
