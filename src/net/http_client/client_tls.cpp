#include "net/http_client/client_tls.hpp"

#include <openssl/ssl.h>

namespace proteus::net {

Result<TlsContext> client_tls(const ClientTls& settings) {
  auto context = TlsContext::client(settings.authorities);
  if (context && settings.check == PeerCheck::none) {
    SSL_CTX_set_verify(context->native_handle(), SSL_VERIFY_NONE, nullptr);
  }
  return context;
}

}  // namespace proteus::net
