#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <proteus/error.hpp>

#include "base/tasks/task.hpp"
#include "base/tasks/waiting.hpp"
#include "client/connection/link.hpp"
#include "client/message/options.hpp"
#include "json/message.hpp"
#include "mcp/notifications.hpp"

namespace proteus::client {

class Connection;

// Returns whether an error is final, so that listening again would not help.
bool is_final(const Error& error);

// Keeps a connection listening for announcements of changes: by a `subscriptions/listen` request in the modern era, by
// the GET stream and `resources/subscribe` in the legacy era. Reopens a stream that ends, with growing delays. The
// announcement `reopened` then says that some announcements may have been missed. Belongs to the connection's thread.
class Listener {
 public:
  explicit Listener(Connection& connection) : connection_(connection) {}

  // Listens for `wanted` instead of what was wanted before. Returns when the server has agreed, or the reason why it
  // does not; after a success, listening continues in the background. With a modern server, the previous subscription
  // stays in effect until the server agrees to the new one, and if it does not. With a legacy server, `wanted` takes
  // effect at once, and a failure ends the listening, unless only single resources were refused; see `refused`.
  Task<Result<>> listen(mcp::SubscriptionFilter wanted);

  // Opens the stream on which a legacy server asks questions outside of requests, unless it is open or the server has
  // none. Returns true if the stream is still being opened and `wait_for_stream` has not waited for it yet.
  bool keep_stream();
  // Waits until that stream is open, has failed, or `Options::stream_wait` has passed.
  Task<> wait_for_stream();
  // Stops listening. Keeps a legacy server's stream open for questions and for the next `listen`, because many servers
  // refuse a new stream while they have not noticed the end of the old one. A second call closes the stream if no
  // request is under way.
  void hush();

  // Call when a new session, or the other era, was negotiated: opens the stream again there, and subscribes again.
  void move();

  // Returns whether the server has agreed to announce something; also true while a broken stream is being reopened.
  bool is_listening() const;
  // Returns why the server does not announce updates of a resource; null if it was not refused.
  const Error* refused(const std::string& uri) const;

  // Receives every notification for which the connection has no other use; announces those that are wanted.
  void on_notification(const json::Message& message, mcp::Method method, RequestId during);

  void stop();

 private:
  // One subscription and the streams that carry it, one after the other.
  struct Round;

  Task<> run(std::shared_ptr<Round> round);
  Task<Result<>> wait_until_settled(std::shared_ptr<Round> round);
  Task<Result<>> open_stream(std::shared_ptr<Round> round);
  Task<Result<>> open_modern(std::shared_ptr<Round> round, Negotiated negotiated);
  Task<Result<>> open_legacy(std::shared_ptr<Round> round, Negotiated negotiated);
  // Returns the requests that subscribe the session to exactly these resources. Takes n log n time for n resources.
  using Subscriptions = std::deque<std::pair<mcp::Method, std::string>>;
  Subscriptions plan_subscriptions(const std::vector<std::string>& wanted) const;
  Task<> subscribe(std::shared_ptr<Round> round);
  Task<> subscribe_one(mcp::Method method, std::string uri);
  Task<> hear_in_answers(std::shared_ptr<Round> round);
  void start(std::shared_ptr<Round> round);
  // Starts a round while the current one is still open. The current one continues until the server agrees to the new
  // one.
  void start_beside(std::shared_ptr<Round> round);
  void end_beside(const std::shared_ptr<Round>& round, bool agreed);
  Round* heard_in(const json::Message& message, RequestId during) const;
  // The stream carries what is wanted, except for the resources that the server has refused with `refusal`.
  void opened(Round& round, std::optional<Error> refusal);
  void announce(Announcement::Kind kind, std::string uri = {}) const;
  static void settle(Round& round, std::optional<Error> failure);

  Connection& connection_;
  std::shared_ptr<Round> round_;
  std::shared_ptr<Round> previous_;  // still open while `round_` replaces it
  // The session's generation, and the resources that we have subscribed it to.
  std::uint64_t subscribed_in_ = 0;
  std::set<std::string, std::less<>> subscribed_;
  std::map<std::string, Error, std::less<>> refused_;
  std::uint64_t streamless_in_ = 0;  // the generation whose server offers no stream
};

}  // namespace proteus::client
