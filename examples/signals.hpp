#pragma once

#include <csignal>

namespace examples {

// Blocks SIGINT and SIGTERM, so that only `wait` receives them. Must be made before any thread starts.
class Signals {
 public:
  Signals() {
    sigemptyset(&set_);
    sigaddset(&set_, SIGINT);
    sigaddset(&set_, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &set_, nullptr);
    std::signal(SIGPIPE, SIG_IGN);
  }
  // Blocks until one of the signals arrives.
  void wait() const {
    int signal = 0;
    sigwait(&set_, &signal);
  }

 private:
  sigset_t set_{};
};

}  // namespace examples
