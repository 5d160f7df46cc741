#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include <boost/intrusive/set.hpp>

#include "base/tasks/waiting.hpp"
#include "client/message/options.hpp"

namespace proteus::client {

// The data of a request under way that is needed to dispatch arriving messages.
struct InFlight : boost::intrusive::set_base_hook<> {
  InFlight(RequestId number, Deadline& until, const RequestOptions& given, bool sent = true)
      : id(number), deadline(&until), options(&given), is_sent(sent) {}

  RequestId id;
  Deadline* deadline;
  const RequestOptions* options;
  bool is_sent;  // false while a question of the server must be answered first
};

// The requests of one connection that are under way. Belongs to the connection's thread.
class InFlightTable {
 public:
  // Keeps a request in the table while it lives.
  class Entry {
   public:
    // The request must have the newest id in the table.
    Entry(InFlightTable& table, InFlight request) : table_(table), request_(request) {
      table_.requests_.insert(table_.requests_.end(), request_);
    }
    ~Entry() { table_.requests_.erase(table_.requests_.iterator_to(request_)); }
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;

    const InFlight& request() const { return request_; }

   private:
    InFlightTable& table_;
    InFlight request_;
  };

  std::size_t size() const { return requests_.size(); }
  const InFlight* find(RequestId id) const;
  // Returns the only request whose caller can be asked. If there is no such request, returns the only request. Null if
  // neither is unique.
  const InFlight* only() const {
    const InFlight* found = nullptr;
    for (const InFlight& request : requests_) {
      if (!request.options->has_handlers()) continue;
      if (found != nullptr) return nullptr;
      found = &request;
    }
    if (found != nullptr) return found;
    return requests_.size() == 1 ? &*requests_.begin() : nullptr;
  }

  // Returns the first request whose caller can be asked; null if there is none.
  const InFlight* first_asked() const;
  // Among the requests whose callers can be asked, returns the latest one of the lowest rank; null if there is none.
  const InFlight* latest_asked(const std::function<std::size_t(RequestId)>& rank) const;
  // Returns whether a request whose caller can be asked was already sent.
  bool any_asked_sent() const;
  // Returns the request that receives a notification which names no request and did not arrive on a request's stream.
  // `level` is set for log messages. Null if no request, or no particular one, should receive it (PRO-21).
  const InFlight* addressee(Owner owner, mcp::Era era, std::optional<mcp::LogLevel> level) const;

  // Ends all requests as cancelled.
  void expire() const;

  // Passes a progress notification to the request that its token names, and extends the request's deadline. Ignores a
  // notification that names no request of ours: a server may be late. Fails if it breaks the rules.
  Result<> on_progress(const json::Message& message, std::optional<RequestId> token) const;
  // Passes a log message to the request on whose stream it arrived, or else to the only request that wants log
  // messages.
  void on_log(const LogEntry& entry, RequestId during) const;
  // Passes a notification to the request on whose stream it arrived, or that its token names. Returns whether there is
  // such a request.
  bool on_notification(const json::Message& message, RequestId during, std::optional<RequestId> token) const;

  // Stops deadlines while it lives, because the server waits for an answer from us: the deadline of request `during`,
  // or of all requests if `during` is kNoRequest. Requests that are added later are not affected.
  class Hold {
   public:
    Hold(InFlightTable& table, RequestId during);
    ~Hold();
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;

   private:
    InFlightTable& table_;
    std::vector<RequestId> held_;
  };

 private:
  friend class Entry;
  struct IdOf {
    using type = RequestId;
    RequestId operator()(const InFlight& request) const { return request.id; }
  };
  boost::intrusive::set<InFlight, boost::intrusive::key_of_value<IdOf>> requests_;
};

Result<mcp::Progress> read_progress(const json::Message& message);
// The result refers to the message.
Result<LogEntry> read_log(const json::Message& message);

}  // namespace proteus::client
