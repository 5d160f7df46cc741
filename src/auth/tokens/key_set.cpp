#include "auth/tokens/key_set.hpp"

#include <algorithm>
#include <utility>

#include "json/text.hpp"

namespace proteus::auth {
namespace {

constexpr std::size_t kKeySetDepth = 16;

// Returns whether the issuer allows verifying signatures with the key (RFC 7517, sections 4.2 and 4.3).
bool is_for_signatures(const boost::json::object& jwk) {
  if (const auto* use = jwk.if_contains("use")) {
    if (!use->is_string() || use->get_string() != "sig") return false;
  }
  if (const auto* operations = jwk.if_contains("key_ops")) {
    const auto* list = operations->if_array();
    if (list == nullptr || std::ranges::find(*list, boost::json::value("verify")) == list->end()) return false;
  }
  return true;
}

std::optional<IssuerKey> read_key(const boost::json::value& value) {
  const auto* jwk = value.if_object();
  if (jwk == nullptr || !is_for_signatures(*jwk)) return std::nullopt;
  auto key = PublicKey::read(*jwk);
  if (!key) return std::nullopt;
  IssuerKey made{.key = std::move(*key), .id = {}};
  if (const auto* id = jwk->if_contains("kid")) {
    if (!id->is_string()) return std::nullopt;
    made.id = id->get_string();
  }
  if (const auto* algorithm = jwk->if_contains("alg")) {
    made.algorithm = algorithm->is_string() ? algorithm_of(algorithm->get_string()) : std::nullopt;
    if (!made.algorithm || !made.key.fits(*made.algorithm)) return std::nullopt;
  }
  return made;
}

}  // namespace

Result<KeySet> KeySet::parse(std::string_view text) {
  if (text.size() > kMaxBytes) return std::unexpected(errors::too_large("a key set", kMaxBytes));
  const auto document = json::parse(text, kKeySetDepth);
  if (!document) return std::unexpected(errors::invalid("a key set is not JSON, or has a key twice in an object"));
  const auto* object = document->if_object();
  const auto* listed = object == nullptr ? nullptr : object->if_contains("keys");
  const auto* keys = listed == nullptr ? nullptr : listed->if_array();
  if (keys == nullptr) return std::unexpected(errors::invalid("a key set has no list of keys"));
  if (keys->size() > kMaxKeys) return std::unexpected(errors::too_large("the keys of an issuer", kMaxKeys));
  KeySet set;
  for (const auto& value : *keys) {
    auto key = read_key(value);
    if (!key) {
      ++set.left_out_;
      continue;
    }
    const auto is_same = [&](const IssuerKey& other) {
      return other.id == key->id && other.algorithm == key->algorithm &&
             other.key.thumbprint() == key->key.thumbprint();
    };
    if (std::ranges::none_of(set.keys_, is_same)) set.keys_.push_back(std::move(*key));
  }
  return set;
}

std::vector<const IssuerKey*> KeySet::find(std::string_view id, Algorithm algorithm) const {
  std::vector<const IssuerKey*> found;
  for (const IssuerKey& key : keys_) {
    if (!id.empty() && key.id != id) continue;
    if (!key.key.fits(algorithm) || (key.algorithm && *key.algorithm != algorithm)) continue;
    found.push_back(&key);
    if (found.size() == kMaxTries) break;
  }
  return found;
}

}  // namespace proteus::auth
