#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include <boost/intrusive/set.hpp>

#include "base/waiting.hpp"
#include "client/message/options.hpp"

namespace proteus::client {

// A request under way, as far as messages that arrive meanwhile concern it.
struct InFlight : boost::intrusive::set_base_hook<> {
  InFlight(RequestId number, Deadline& until, const RequestOptions& given, bool sent = true)
      : id(number), deadline(&until), options(&given), is_sent(sent) {}

  RequestId id;
  Deadline* deadline;
  const RequestOptions* options;
  bool is_sent;  // false while it waits for something to be answered first
};

// The requests of one connection that are under way.
class InFlightTable {
 public:
  // Is in the table for as long as it lives.
  class Entry {
   public:
    // Of the newest id there is.
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
  // The only one whose caller can be asked, or the only one there is; null where there are others like it, or none.
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

  // The first whose caller can be asked; null where there is none.
  const InFlight* first_asked() const;
  // Of those whose callers can be asked, the latest of the least rank; null where there is none.
  const InFlight* latest_asked(const std::function<std::size_t(RequestId)>& rank) const;
  // Whether one whose caller can be asked has been sent.
  bool any_asked_sent() const;
  // Whom a notification is for that came with no request and names none; `level` is that of a log message. Null for
  // nobody, or nobody in particular.
  const InFlight* addressee(Owner owner, mcp::Era era, std::optional<mcp::LogLevel> level) const;

  // Ends them all, as cancelled.
  void expire() const;

  // Hands a progress notification to the request that its token names, and extends its deadline. What names no request
  // of ours, or breaks the rules, is ignored: a server may be late, or wrong.
  void on_progress(const json::Message& message, std::optional<RequestId> token) const;
  // Hands a log message to the request it came with; without one, to the only request that wants any.
  void on_log(const LogEntry& entry, RequestId during) const;
  // Hands a notification to the request that it came with, or that its token names. False where there is none.
  bool on_notification(const json::Message& message, RequestId during, std::optional<RequestId> token) const;

  // While it lives the server waits for an answer of ours, and deadlines stand still: that of one request, or
  // of all where it is not known which.
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
// The entry views the message.
Result<LogEntry> read_log(const json::Message& message);

}  // namespace proteus::client
