#pragma once

#include <string>

namespace proteus::net {

// Why OpenSSL failed last, on this thread; forgotten by asking.
std::string tls_library_error();

}  // namespace proteus::net
