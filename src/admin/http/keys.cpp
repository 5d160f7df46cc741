#include "admin/http/keys.hpp"

#include "base/secrets/sealing.hpp"

namespace proteus::admin {
namespace {

std::string_view bytes(const json::Digest& digest) {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

}  // namespace

AdminKeys::AdminKeys(const std::vector<AdminKey>& keys) {
  for (const auto& key : keys) {
    if (!key.secret.empty()) entries_.push_back({key.name, digest(key.secret.reveal()), key.role});
  }
}

const AdminKeys::Entry* AdminKeys::find(const json::Digest& digest) const {
  const Entry* found = nullptr;
  for (const auto& entry : entries_) {
    if (equal_in_constant_time(bytes(entry.digest), bytes(digest))) found = &entry;
  }
  return found;
}

}  // namespace proteus::admin
