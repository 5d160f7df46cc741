#pragma once

#include <string>

namespace proteus::net {

// Returns why OpenSSL failed on this thread, and clears the thread's errors.
std::string tls_library_error();

}  // namespace proteus::net
