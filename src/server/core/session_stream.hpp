#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/task.hpp"
#include "server/core/replay.hpp"
#include "server/core/session_line.hpp"

namespace proteus::server {

class Call;

// The way to a legacy client for what belongs to none of its requests: its standalone stream, or whatever its transport
// has instead. While there is no such stream, the stream of a request under way. Thread-safe.
class SessionStream : public std::enable_shared_from_this<SessionStream> {
 public:
  // `line` is for a transport that has no streams.
  SessionStream(std::shared_ptr<ReplayStream> standalone, std::shared_ptr<SessionLine> line)
      : standalone_(std::move(standalone)), line_(std::move(line)) {}

  // Whether the client hears what belongs to no request.
  bool hears() const { return line_ ? line_->is_open() : standalone_->attached(); }

  // A message that says the same however often it is sent; it waits for the client.
  void announce(std::string message);
  // What becomes of a message that there is no way for: a question waits for one, what was merely told does not.
  enum class Unheard : std::uint8_t { waits, dropped };
  void send(std::string message, Unheard unheard);
  // The standalone stream was opened.
  void opened();
  // The session has ended.
  void end();

  // A request under way, whose stream is used for as long as this lives. Belongs to the thread of the request.
  class Way {
   public:
    Way(std::shared_ptr<SessionStream> stream, Call& call, const Executor& thread);
    ~Way();
    Way(const Way&) = delete;
    Way& operator=(const Way&) = delete;

   private:
    friend class SessionStream;
    struct Line;
    std::shared_ptr<SessionStream> stream_;
    std::shared_ptr<Line> line_;
  };

 private:
  std::deque<std::string> take_waiting();

  const std::shared_ptr<ReplayStream> standalone_;
  const std::shared_ptr<SessionLine> line_;
  std::mutex mutex_;
  std::vector<std::shared_ptr<Way::Line>> ways_;
  std::deque<std::string> waiting_;
};

}  // namespace proteus::server
