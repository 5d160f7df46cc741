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

#include "base/task.hpp"
#include "base/waiting.hpp"
#include "client/connection/link.hpp"
#include "json/message.hpp"
#include "mcp/notifications.hpp"

namespace proteus::client {

class Connection;

// Whether there is nothing to hope for from listening once more.
bool is_final(const Error& error);

// Keeps a connection listening for announcements of changes: a `subscriptions/listen` request in the modern
// era, the GET stream and `resources/subscribe` in the legacy one. A stream that ends is opened again, sooner
// first and later less often; after that the announcement `reopened` tells that some may have been missed.
class Listener {
 public:
  explicit Listener(Connection& connection) : connection_(connection) {}

  // Listens for these from now on, instead of what was listened for before. Ends when the server agreed, or
  // with the reason why it does not; after a success the listening goes on in the background. Until then, and where it
  // fails, what was listened for before is heard as it was.
  Task<Result<>> listen(mcp::SubscriptionFilter wanted);

  // Opens the stream on which a legacy server asks questions outside of requests, unless one is open already, or the
  // server has none. True where it is just being opened, and nobody has waited for that yet.
  bool keep_stream();
  // Ends when that stream is open, or will not be soon.
  Task<> wait_for_stream();
  // Listens for nothing any more. A legacy server's stream stays, for questions and for what is listened for next,
  // until this is called once more while no request is under way: many servers refuse a new one while they have not
  // noticed the end of the old.
  void hush();

  // Whether the server has agreed to something that is listened for, and is heard, or will be again.
  bool is_listening() const;
  // Why the server does not tell of a resource that was listened for; null where it does.
  const Error* refused(const std::string& uri) const;

  // What may be an announcement.
  void on_notification(const json::Message& message, mcp::Method method, RequestId during);

  void stop();

 private:
  // One `listen`, with all its streams.
  struct Round;

  Task<> run(std::shared_ptr<Round> round);
  Task<Result<>> wait_until_settled(std::shared_ptr<Round> round);
  Task<Result<>> open_stream(std::shared_ptr<Round> round);
  Task<Result<>> open_modern(std::shared_ptr<Round> round, Negotiated negotiated);
  Task<Result<>> open_legacy(std::shared_ptr<Round> round, Negotiated negotiated);
  // What is to be asked so that the session is subscribed to these, in n log n of how many they are.
  using Subscriptions = std::deque<std::pair<mcp::Method, std::string>>;
  Subscriptions plan_subscriptions(const std::vector<std::string>& wanted) const;
  Task<> subscribe(std::shared_ptr<Round> round);
  Task<> subscribe_one(mcp::Method method, std::string uri);
  Task<> hear_in_answers(std::shared_ptr<Round> round);
  void start(std::shared_ptr<Round> round);
  // In the place of the one that is open, which goes on until this one is.
  void start_beside(std::shared_ptr<Round> round);
  void end_beside(const std::shared_ptr<Round>& round, bool agreed);
  Round* heard_in(const json::Message& message, RequestId during) const;
  void opened(Round& round);
  static void settle(Round& round, std::optional<Error> failure);

  Connection& connection_;
  std::shared_ptr<Round> round_;
  std::shared_ptr<Round> previous_;  // while another takes its place
  // What the session of this generation was subscribed to, by us.
  std::uint64_t subscribed_in_ = 0;
  std::set<std::string, std::less<>> subscribed_;
  std::map<std::string, Error, std::less<>> refused_;
  std::uint64_t streamless_in_ = 0;  // the generation whose server has no stream to keep
};

}  // namespace proteus::client
