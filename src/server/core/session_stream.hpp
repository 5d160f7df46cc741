#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/tasks/task.hpp"
#include "server/core/replay.hpp"
#include "server/core/session_line.hpp"

namespace proteus::server {

class Call;

// Sends messages that belong to no request to a legacy client: on its standalone stream, or on the only stream of its
// transport. While the standalone stream is not open, uses the stream of a running request. Thread-safe.
class SessionStream : public std::enable_shared_from_this<SessionStream> {
 public:
  // `line` is null unless the transport has a single stream for everything.
  SessionStream(std::shared_ptr<ReplayStream> standalone, std::shared_ptr<SessionLine> line)
      : standalone_(std::move(standalone)), line_(std::move(line)) {}

  // Whether the client can receive messages that belong to no request.
  bool hears() const { return line_ ? line_->is_open() : standalone_->attached(); }

  // Sends an announcement, which means the same however often it is sent. Kept for the client if it is not connected.
  void announce(std::string message);
  // Sends a message. While there is no stream for it, it is dropped, unless the client may resume its standalone
  // stream.
  void send(std::string message);
  // Sends a question, which waits while there is no stream for it, as long as `asker` lives.
  void ask(std::string question, std::weak_ptr<const void> asker);
  // Sends the waiting questions. Must be called when the standalone stream has been opened.
  void opened();
  // Closes the connection of the standalone stream, which the client may open again, or that of a transport with a
  // single stream.
  void disconnect();
  // Like `disconnect`, but the standalone stream has ended for good.
  void end();

  // Offers the stream of a running request while it lives. Belongs to the thread of the request.
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
  // A message without an asker does not wait.
  using Asker = std::optional<std::weak_ptr<const void>>;
  struct Question {
    std::string text;
    std::weak_ptr<const void> asker;
  };
  void send(std::string message, Asker asker);
  // Returns the waiting questions whose askers live.
  std::vector<std::string> take_waiting();

  const std::shared_ptr<ReplayStream> standalone_;
  const std::shared_ptr<SessionLine> line_;
  std::mutex mutex_;
  std::vector<std::shared_ptr<Way::Line>> ways_;
  std::deque<Question> waiting_;
};

}  // namespace proteus::server
