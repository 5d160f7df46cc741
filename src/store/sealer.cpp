#include "store/sealer.hpp"

#include "store/errors.hpp"

namespace proteus::store {
namespace {

// A sealed text is a byte for the format, the id of the key, and the output of `SealingKey`.
constexpr char kFormat = 1;
constexpr std::size_t kIdSize = 8;
constexpr std::size_t kHashSize = 32;
constexpr std::size_t kHeader = 1 + kIdSize;

}  // namespace

Sealer::Key::Key(const Pepper& pepper)
    : key(SealingKey::derive(pepper.value(), "secrets at rest")),
      id(derive_bytes(pepper.value(), "id of secrets at rest", kIdSize)),
      hashing(derive_bytes(pepper.value(), "hashes at rest", kHashSize)) {}

Sealer::Sealer(const Pepper& current, const std::optional<Pepper>& previous) : current_(current) {
  if (previous) previous_.emplace(*previous);
}

std::string Sealer::seal(std::string_view plain, std::string_view bound) const {
  return kFormat + current_.id + current_.key.seal(plain, bound);
}

std::vector<std::string> Sealer::keyed_hashes(std::string_view text) const {
  std::vector<std::string> all;
  all.push_back(derive_bytes(current_.hashing, text, kHashSize));
  if (previous_) all.push_back(derive_bytes(previous_->hashing, text, kHashSize));
  return all;
}

Result<Opened> Sealer::open(std::string_view sealed, std::string_view bound) const {
  if (sealed.size() < kHeader || sealed.front() != kFormat) return std::unexpected(errors::damaged_seal(bound));
  const std::string_view id = sealed.substr(1, kIdSize);
  const bool is_current = id == current_.id;
  if (!is_current && (!previous_ || id != previous_->id)) return std::unexpected(errors::unknown_pepper(bound));
  const Key& key = is_current ? current_ : *previous_;
  auto plain = key.key.open(sealed.substr(kHeader), bound);
  if (!plain) return std::unexpected(errors::damaged_seal(bound));
  return Opened{std::move(*plain), is_current ? SealedWith::current : SealedWith::previous};
}

}  // namespace proteus::store
