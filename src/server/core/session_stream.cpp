#include "server/core/session_stream.hpp"

#include <boost/asio/post.hpp>

#include "server/core/call.hpp"
#include "server/core/event_text.hpp"

namespace proteus::server {
namespace {

// Limit of waiting questions.
constexpr std::size_t kMostQuestions = 64;

}  // namespace

struct SessionStream::Way::Line {
  Executor thread;
  Call* call;  // used only on `thread`; null when the request has ended
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
  if (line_) return line_->announce(std::move(message));
  standalone_->push_once(message);
}

void SessionStream::send(std::string message) { send(std::move(message), std::nullopt); }

void SessionStream::ask(std::string question, std::weak_ptr<const void> asker) {
  send(std::move(question), std::move(asker));
}

void SessionStream::send(std::string message, Asker asker) {
  if (line_) return line_->deliver(std::move(message));
  join_lines(message);
  if (standalone_->attached()) return standalone_->push(message);
  std::shared_ptr<Way::Line> line;
  bool waits = false;
  {
    const std::scoped_lock lock(mutex_);
    if (!ways_.empty()) {
      line = ways_.back();
    } else if (asker) {
      if (waiting_.size() == kMostQuestions) waiting_.pop_front();
      waiting_.push_back({std::move(message), std::move(*asker)});
      waits = true;
    }
  }
  if (waits) {
    // The standalone stream may have been opened meanwhile.
    if (standalone_->attached()) opened();
    return;
  }
  // A client that resumes the standalone stream still gets the message.
  if (!line) return standalone_->push_if_opened(message);  // NOLINT(bugprone-use-after-move): it does not wait
  boost::asio::post(line->thread, [self = shared_from_this(), line, message = std::move(message),
                                   asker = std::move(asker)]() mutable {
    if (asker && asker->expired()) return;
    if (line->call != nullptr) return line->call->send(std::move(message));
    self->send(std::move(message), std::move(asker));
  });
}

std::vector<std::string> SessionStream::take_waiting() {
  std::vector<std::string> questions;
  const std::scoped_lock lock(mutex_);
  for (Question& question : std::exchange(waiting_, {})) {
    if (!question.asker.expired()) questions.push_back(std::move(question.text));
  }
  return questions;
}

void SessionStream::opened() {
  for (const std::string& message : take_waiting())
    standalone_->push(message);
}

void SessionStream::disconnect() {
  standalone_->detach(std::nullopt);
  if (line_) line_->end();
}

void SessionStream::end() {
  standalone_->finish();
  disconnect();
}

}  // namespace proteus::server
