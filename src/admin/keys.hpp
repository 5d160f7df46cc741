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

  // The name of the key; null where it is none.
  const std::string* find(std::string_view secret) const;

 private:
  struct Entry {
    std::string name;
    json::Digest digest;
  };
  std::vector<Entry> entries_;
};

}  // namespace proteus::admin
