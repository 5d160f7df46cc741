#pragma once

#include <string>

namespace proteus::server {

// The connection to a client whose transport has a single stream for everything, such as pipes. Thread-safe.
class SessionLine {
 public:
  virtual ~SessionLine() = default;
  // Sends a message that belongs to no request.
  virtual void deliver(std::string message) = 0;
  // Like `deliver`, for a message that may be dropped if an equal one still waits.
  virtual void announce(std::string message) = 0;
  virtual bool is_open() = 0;
  // Closes the connection as soon as all running requests are answered.
  virtual void end() = 0;
};

}  // namespace proteus::server
