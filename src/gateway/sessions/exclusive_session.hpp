#pragma once

#include <memory>
#include <string>

#include "gateway/sessions/tool_sessions.hpp"

namespace proteus::gateway {

// The exclusive right to change one session, held while this object lives. `take` waits until no other change of the
// session runs. Used on the control thread only.
class ToolSessions::ExclusiveAccess {
 public:
  static Task<std::unique_ptr<ExclusiveAccess>> take(ToolSessions& sessions, std::string id) {
    while (sessions.busy_.contains(id))
      co_await sessions.freed_.wait();
    co_return std::make_unique<ExclusiveAccess>(sessions, std::move(id));
  }
  ExclusiveAccess(ToolSessions& sessions, std::string id) : sessions_(sessions), id_(std::move(id)) {
    sessions_.busy_.insert(id_);
  }
  ~ExclusiveAccess() {
    sessions_.busy_.erase(id_);
    sessions_.freed_.ring();
  }
  ExclusiveAccess(const ExclusiveAccess&) = delete;
  ExclusiveAccess& operator=(const ExclusiveAccess&) = delete;

 private:
  ToolSessions& sessions_;
  const std::string id_;
};

}  // namespace proteus::gateway
