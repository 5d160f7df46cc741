#pragma once

#include <string>

namespace proteus::server {

// The way to a client whose transport is one line for all that it is told, such as pipes. Thread-safe.
class SessionLine {
 public:
  virtual ~SessionLine() = default;
  // A message that belongs to no request.
  virtual void deliver(std::string message) = 0;
  virtual bool is_open() = 0;
  // Closes it as soon as what runs is answered.
  virtual void end() = 0;
};

}  // namespace proteus::server
