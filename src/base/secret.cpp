#include "base/secret.hpp"

#include <openssl/crypto.h>

namespace proteus {

Secret::~Secret() { OPENSSL_cleanse(text_.data(), text_.size()); }

}  // namespace proteus
