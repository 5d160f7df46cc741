#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/clock.hpp"
#include "base/secrets/epoch.hpp"
#include "base/strong.hpp"
#include "mcp/request.hpp"
#include "server/core/caller.hpp"
#include "server/core/client_requests.hpp"
#include "server/core/listeners.hpp"
#include "server/core/replay.hpp"
#include "server/core/session_ids.hpp"
#include "server/core/session_places.hpp"
#include "server/core/session_records.hpp"

namespace proteus::server {

using ClientSessionId = Strong<std::string, struct ClientSessionIdTag>;

// The requests of one client that are being answered, so that the client can cancel them. Thread-safe.
class InFlight {
 public:
  // Returns false if a request with this id is still running: ids must not be reused.
  bool add(std::string_view id, std::shared_ptr<Cancellation> cancellation);
  void remove(std::string_view id);
  void cancel(std::string_view id);
  // Cancels all requests, and those that are added later.
  void cancel_all(const std::string& reason = {});
  bool empty() const;

 private:
  mutable std::mutex mutex_;
  std::optional<std::string> closed_;  // the reason of `cancel_all`
  std::unordered_map<std::string, std::shared_ptr<Cancellation>> running_;
};

// A legacy client's session: what the client declared in the handshake, its streams, its subscriptions and its open
// requests. Thread-safe.
class Session final : public Listener {
 public:
  struct Hello {
    Caller caller;
    mcp::Version version = mcp::kNewestLegacy;
    std::string client_capabilities = {};
    std::string client_info = {};
  };

  // Messages that belong to no request go to the standalone stream, or to `line` if the transport has a single stream
  // for everything. Events are kept if `events` is given. `events` and `follows` must outlive the session. The epoch is
  // part of the numbers of the session's streams and of its requests to the client.
  Session(ClientSessionId id, Hello hello, EventStore* events, std::shared_ptr<SessionLine> line = nullptr,
          Listeners* follows = nullptr, Epoch epoch = 0);
  ~Session() override;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  const ClientSessionId& id() const { return id_; }
  Epoch epoch() const { return epoch_; }
  const Hello& hello() const { return hello_; }
  std::shared_ptr<const Caller> caller() const override;
  Clock::Wall until() const override { return until_.load(); }
  // Adopts the credentials of the client's latest request, which may be newer and grant something else.
  void renew(const Caller& caller);
  mcp::legacy::SessionFacts facts() const;

  // Keeps a record of the session in `records` from now on, so that another process can take the session over.
  // `records` must outlive the session.
  void keep_record(SessionRecords& records, SessionRecord::Holder holder);
  // What happens to a record that is no longer kept: it is deleted because the session is over, or left to another
  // process that has the session or may take it over.
  enum class Record : std::uint8_t { removed, left };
  void end_record(Record what);
  // Whether the session is over, so that no process may continue it.
  bool is_over() const;
  // Returns the holder in the record; nothing if no record is kept.
  std::optional<SessionRecord::Holder> holder() const;
  SessionRecord record() const;
  // Writes the record as it is now, after all earlier writes.
  void write_record();
  // Sets the service's part of the record; see SessionRecord.
  void set_state(std::optional<std::string> state);

  void set_log_level(mcp::LogLevel level);
  mcp::LogLevel log_level() const { return log_level_; }
  // `full`: the session has the maximum number of subscriptions.
  enum class Subscribed : std::uint8_t { added, already, full };
  Subscribed subscribe(std::string uri);
  void unsubscribe(const std::string& uri);
  std::vector<std::string> subscriptions() const;
  // Whether messages that belong to no request can reach the client now.
  bool hears() const { return outside_->hears(); }

  // The stream for messages that belong to no request, which the client opens with GET.
  const std::shared_ptr<ReplayStream>& standalone() { return standalone_; }
  // Makes a stream that answers `requests`, which are JSON-RPC ids, one per line. Finished streams are kept until there
  // are too many; the oldest is dropped first.
  std::shared_ptr<ReplayStream> new_stream(std::string_view requests = {});
  std::shared_ptr<ReplayStream> find_stream(std::uint64_t id);
  // Whether the stream was made by another process that had this session.
  bool is_of_another(std::uint64_t stream) const { return epoch_ != 0 && stream >> 32U != epoch_; }
  // Whether the stream is a standalone stream, of any process.
  static bool is_standalone(std::uint64_t stream) { return (stream & 0xffffffffU) == 0; }
  // Reads what another process left of a stream.
  Task<Result<std::optional<LeftStream>>> read_left(std::uint64_t stream) const;

  InFlight& in_flight() { return in_flight_; }
  ClientRequests& client_requests() { return *client_requests_; }
  // These two may outlive the session, which ends them.
  const std::shared_ptr<ClientRequests>& shared_client_requests() const { return client_requests_; }
  const std::shared_ptr<SessionStream>& outside() const { return outside_; }
  // Passes on a notification that belongs to no request. Drops log messages below the client's level, and notifications
  // that its revision does not have.
  void pass_on(const json::Message& notification);

  // Returns the object that the service keeps with this session. The first call makes it, with `make`, under a lock.
  std::shared_ptr<void> attachment(const std::function<std::shared_ptr<void>()>& make);
  // Returns null if there is no such object.
  std::shared_ptr<void> attachment();

  // Leaves the kept events of all streams to the process that continues the session.
  void leave();
  // Cancels the running requests and ends the standalone stream. The requests are answered with an error that states
  // the reason; if it is empty, that the session has ended.
  void close(const std::string& reason = {});
  // Whether the client is listening, a request is running, or a stream that answers requests is unfinished.
  bool is_in_use();

  void list_changed(mcp::Method changed) override;
  void resource_updated(std::string_view uri) override;
  // The session goes on: its client may come back with new credentials, or at another process.
  void end() override;

 private:
  std::uint64_t first_stream() const { return std::uint64_t{epoch_} << 32U; }
  SessionRecord record_now() const;

  const ClientSessionId id_;
  const Epoch epoch_;
  const Hello hello_;
  EventStore* const events_;
  std::atomic<mcp::LogLevel> log_level_ = mcp::LogLevel::info;
  std::atomic<Clock::Wall> until_;
  mutable std::mutex caller_mutex_;
  std::shared_ptr<const Caller> caller_;  // never null
  std::atomic<const Grant*> grant_;       // grant of `caller_`, to be compared without the lock
  std::shared_ptr<ReplayStream> standalone_;
  const std::shared_ptr<SessionStream> outside_;
  InFlight in_flight_;
  const std::shared_ptr<ClientRequests> client_requests_;

  Listeners* const follows_;

  mutable std::mutex record_mutex_;
  SessionRecords* records_ = nullptr;
  bool is_over_ = false;
  SessionRecord::Holder holder_;
  std::optional<std::string> state_ = "";

  mutable std::mutex mutex_;
  std::shared_ptr<void> attachment_;
  std::set<std::string, std::less<>> subscriptions_;
  std::uint64_t last_stream_;
  std::deque<std::shared_ptr<ReplayStream>> streams_;
};

// All sessions, by id. Thread-safe; a lookup takes one of several locks for a short time.
class Sessions {
 public:
  struct Limits {
    std::size_t sessions = 10'000;
    std::size_t reserve = 0;  // number of these that anonymous callers cannot have
    std::chrono::seconds idle = std::chrono::minutes(30);
    // Idle time of sessions that were never used since their handshake; applies while there is no free place.
    std::chrono::seconds unused = std::chrono::seconds(10);
  };

  // Everything given must outlive this object. `ids` is for a cluster; without it, an id is a random text. With
  // `records`, other processes can continue sessions after this process has ended.
  Sessions(const Clock& clock, Listeners& listeners, EventStore& events, Limits limits, const SessionIds* ids = nullptr,
           SessionRecords* records = nullptr)
      : clock_(clock),
        listeners_(listeners),
        events_(events),
        ids_(ids),
        records_(records),
        limits_(limits),
        places_(limits.sessions, limits.reserve) {}

  // Makes a session. If there is no free place, ends idle sessions and those that were never used; fails if there is
  // still none, in total or for this principal. Also fails if the caller's grant was withdrawn meanwhile.
  Result<std::shared_ptr<Session>> create(Session::Hello hello, std::shared_ptr<SessionLine> line = nullptr);
  // Sets the callback for sessions that end here because another process continues them; it runs before they end. Must
  // be called before the first session is made.
  void set_on_leave(std::function<void(Session&)> on_leave) { on_leave_ = std::move(on_leave); }
  using OnAdopt = std::function<void(Session&, std::string_view state)>;
  // Sets the callback for sessions that this process takes over; it gets the service's part of the record, and runs
  // before anybody can find the session. Must be called before the first session is made.
  void set_on_adopt(OnAdopt on_adopt) { on_adopt_ = std::move(on_adopt); }
  // Restores a session that this process has taken over from its record. Fails like `create`.
  Result<std::shared_ptr<Session>> adopt(std::string id, Session::Hello hello, const SessionRecord& record);
  // Checks in the records whether another process has taken the session over; if so, ends the session in this process
  // only. Returns whether the session is still here. Fails if the records cannot be reached.
  Task<Result<bool>> make_sure(std::shared_ptr<Session> session);
  // Whether the last such check failed for as long as a request may wait; further requests then do not wait.
  bool is_unsure() const { return is_unsure_; }
  void set_unsure(bool unsure) { is_unsure_ = unsure; }
  // Releases the sessions that have a record and are not in use, so that the next process that gets a request for one
  // can take it over. Returns how many sessions with a record are still here.
  std::size_t hand_over();
  // Returns null if the session does not exist or belongs to another caller, without distinguishing the two. Renews the
  // session's credentials with those of `caller`.
  std::shared_ptr<Session> find(std::string_view id, const Caller& caller);
  bool remove(std::string_view id, const Caller& caller);

  void end_idle() { end_idle(limits_.idle); }
  // Ends the sessions of the callers that `concerns` selects. Clients that wait for an answer get the reason.
  void end(const Listeners::Concerns& concerns, const std::string& reason = {});
  // Like `end`, for the sessions of one principal, without looking at others.
  void end_of(const std::string& principal, const Listeners::Concerns& concerns, const std::string& reason = {});
  void close_all();
  std::size_t size() const { return places_.taken(); }
  // A session and its times, for operators.
  struct Open {
    std::shared_ptr<Session> session;
    Clock::Monotonic began;
    Clock::Monotonic last_used;
  };
  std::vector<Open> all();
  // Returns false if there is no such session any more.
  bool end(const ClientSessionId& id, const std::string& reason);
  // Returns the number of sessions whose client can receive messages that belong to no request.
  std::size_t attached();

 private:
  struct Entry {
    std::shared_ptr<Session> session;
    Listeners::Registration registration;
    Clock::Monotonic last_used;
    SessionPlaces::Place place;
    Clock::Monotonic began;
    bool is_used = false;  // since its handshake
  };
  struct Shard {
    std::mutex mutex;
    std::unordered_map<std::string, Entry> entries;
  };
  Shard& shard(std::string_view id);
  Result<SessionPlaces::Place> take_place(const std::string& principal, const std::string& id);
  Result<std::shared_ptr<Session>> add(std::shared_ptr<Session> session, SessionPlaces::Place place,
                                       std::optional<SessionRecord::Holder> holder);
  bool is_here(const Session& session);
  // Ends a session that another process has taken over. Does nothing if another Session object has its id, because this
  // process has taken the session back meanwhile.
  void drop(const Session& session);
  // Ends a session that no process will continue.
  void end(Entry& entry, const std::string& reason = {});
  // Ends a session that another process continues.
  void leave(Session& session, const std::string& reason = {});
  void end_idle(std::chrono::seconds unused);

  const Clock& clock_;
  Listeners& listeners_;
  EventStore& events_;
  const SessionIds* const ids_;
  SessionRecords* const records_;
  std::function<void(Session&)> on_leave_;
  OnAdopt on_adopt_;
  const Limits limits_;
  SessionPlaces places_;
  std::atomic<bool> is_unsure_ = false;
  std::atomic<Clock::Monotonic> last_sweep_{Clock::Monotonic{}};
  std::array<Shard, 16> shards_;
};

}  // namespace proteus::server
