#include "server/core/session_stream.hpp"

#include <boost/asio/post.hpp>

#include "server/core/call.hpp"
#include "server/core/event_text.hpp"

namespace proteus::server {
namespace {

// Of questions that nobody could be asked yet.
constexpr std::size_t kMostQuestions = 64;

}  // namespace

struct SessionStream::Way::Line {
  Executor thread;
  Call* call;  // touched on that thread only; null when the request has ended
};

SessionStream::Way::Way(std::shared_ptr<SessionStream> stream, Call& call, const Executor& thread)
    : stream_(std::move(stream)), line_(std::make_shared<Line>(thread, &call)) {
  {
    const std::scoped_lock lock(stream_->mutex_);
    stream_->ways_.push_back(line_);
  }
  for (std::string& message : stream_->take_waiting())
    call.send(std::move(message));
}

SessionStream::Way::~Way() {
  line_->call = nullptr;
  const std::scoped_lock lock(stream_->mutex_);
  std::erase(stream_->ways_, line_);
}

void SessionStream::announce(std::string message) {
  if (line_) return line_->deliver(std::move(message));
  standalone_->push_once(message);
}

void SessionStream::send(std::string message, Unheard unheard) {
  if (line_) return line_->deliver(std::move(message));
  join_lines(message);
  if (standalone_->attached()) return standalone_->push(message);
  std::shared_ptr<Way::Line> line;
  bool waits = false;
  {
    const std::scoped_lock lock(mutex_);
    if (!ways_.empty()) {
      line = ways_.back();
    } else if (unheard == Unheard::waits) {
      if (waiting_.size() == kMostQuestions) waiting_.pop_front();
      waiting_.push_back(std::move(message));
      waits = true;
    }
  }
  if (waits) {
    // It may have been opened just now.
    if (standalone_->attached()) opened();
    return;
  }
  // A client that comes back for the rest of its stream finds it there.
  if (!line) return standalone_->push_if_opened(message);  // NOLINT(bugprone-use-after-move): it does not wait
  boost::asio::post(line->thread, [self = shared_from_this(), line, message = std::move(message), unheard]() mutable {
    if (line->call != nullptr) return line->call->send(std::move(message));
    self->send(std::move(message), unheard);
  });
}

std::deque<std::string> SessionStream::take_waiting() {
  const std::scoped_lock lock(mutex_);
  return std::exchange(waiting_, {});
}

void SessionStream::opened() {
  for (const std::string& message : take_waiting())
    standalone_->push(message);
}

void SessionStream::end() {
  standalone_->finish();
  if (line_) line_->end();
}

}  // namespace proteus::server
