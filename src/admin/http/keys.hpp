#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/secret.hpp"
#include "json/canonical.hpp"

namespace proteus::admin {

struct AdminKey {
  std::string name;  // goes into the audit
  Secret secret;
};

// Who may use the admin API. Immutable. Keeps hashes only, and compares with all of them, so that time tells nothing.
class AdminKeys {
 public:
  // An empty secret opens nothing.
  explicit AdminKeys(const std::vector<AdminKey>& keys);

  static json::Digest digest(std::string_view secret) { return json::sha256(secret); }
  // The name of the key whose secret has this digest; null where it is none.
  const std::string* find(const json::Digest& digest) const;

 private:
  struct Entry {
    std::string name;
    json::Digest digest;
  };
  std::vector<Entry> entries_;
};

}  // namespace proteus::admin
