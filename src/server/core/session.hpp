#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/clock.hpp"
#include "base/epoch.hpp"
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

// The requests of a client that are being answered, so that it can cancel one. Thread-safe.
class InFlight {
 public:
  // False where a request of that id is still running: ids must not be reused.
  bool add(std::string_view id, std::shared_ptr<Cancellation> cancellation);
  void remove(std::string_view id);
  void cancel(std::string_view id);
  // Those that come later are cancelled as well.
  void cancel_all(const std::string& reason = {});

 private:
  std::mutex mutex_;
  bool closed_ = false;
  std::unordered_map<std::string, std::shared_ptr<Cancellation>> running_;
};

// What a legacy client said in its handshake, and what is under way with it. Thread-safe.
class Session final : public Listener {
 public:
  struct Hello {
    Caller caller;
    mcp::Version version = mcp::kNewestLegacy;
    std::string client_capabilities = {};
    std::string client_info = {};
  };

  // What belongs to no request goes to the standalone stream, or to the line of a transport that has no streams.
  // Events are kept where there is a store. It and the listeners must outlive the session. The epoch is in the numbers
  // of its events and of its requests to the client.
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
  // Its client came back with these credentials, which may be newer ones and grant something else.
  void renew(const Caller& caller);
  mcp::legacy::SessionFacts facts() const;

  // From now on there is a record of it, for a process that goes on with it.
  void keep_record(SessionRecords& records, SessionRecord::Holder holder);
  // From now on there is none: nobody goes on with it, or another process already does.
  enum class Record : std::uint8_t { removed, left };
  void end_record(Record what);
  // Nobody goes on with it.
  bool is_over() const;
  // Who has it, while there is a record.
  std::optional<SessionRecord::Holder> holder() const;
  SessionRecord record() const;
  // Sends it as it is now, after whatever was sent before.
  void write_record();
  // What whoever answers needs for that; see SessionRecord.
  void set_state(std::optional<std::string> state);

  void set_log_level(mcp::LogLevel level);
  mcp::LogLevel log_level() const { return log_level_; }
  // False where there are as many as there may be.
  bool subscribe(std::string uri);
  void unsubscribe(const std::string& uri);
  std::vector<std::string> subscriptions() const;
  // Whether there is a way to its client for what belongs to no request.
  bool hears() const { return outside_->hears(); }

  // The stream for what belongs to no request, behind GET.
  const std::shared_ptr<ReplayStream>& standalone() { return standalone_; }
  // A stream that answers these requests, each a JSON-RPC id on a line of its own. Finished ones are kept for a while,
  // and the oldest given up.
  std::shared_ptr<ReplayStream> new_stream(std::string_view requests = {});
  std::shared_ptr<ReplayStream> find_stream(std::uint64_t id);
  // Whether a stream is of another process that had this session.
  bool is_of_another(std::uint64_t stream) const { return epoch_ != 0 && stream >> 32U != epoch_; }
  // Whether it is the one for what belongs to no request, of whichever process.
  static bool is_standalone(std::uint64_t stream) { return (stream & 0xffffffffU) == 0; }
  // What is left of such a stream.
  Task<Result<std::optional<LeftStream>>> read_left(std::uint64_t stream) const;

  InFlight& in_flight() { return in_flight_; }
  ClientRequests& client_requests() { return *client_requests_; }
  // Both may be kept for longer than the session, which ends them.
  const std::shared_ptr<ClientRequests>& shared_client_requests() const { return client_requests_; }
  const std::shared_ptr<SessionStream>& outside() const { return outside_; }
  // Passes on a notification that belongs to no request: a log message of the level that the client wants, or one that
  // it may know.
  void pass_on(const json::Message& notification);

  // Something that whoever answers keeps for this session, and that goes with it. `make` is called once, under a lock.
  std::shared_ptr<void> attachment(const std::function<std::shared_ptr<void>()>& make);
  // The same where there is one.
  std::shared_ptr<void> attachment();

  // Another process goes on with it: what is kept of its streams is left.
  void leave();
  // Cancels what runs, and closes all streams. The client is told the reason, where there is one.
  void close(const std::string& reason = {});
  bool has_connection();

  void list_changed(mcp::Method changed) override;
  void resource_updated(std::string_view uri) override;
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
  std::atomic<const Grant*> grant_;       // of that, for who only asks whether it is another
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

// All sessions, by id. Thread-safe; a look-up takes one short lock of many.
class Sessions {
 public:
  struct Limits {
    std::size_t sessions = 10'000;
    std::size_t reserve = 0;  // of them, not for anonymous callers
    std::chrono::seconds idle = std::chrono::minutes(30);
    // Where places run out, for those that were never used since their handshake.
    std::chrono::seconds unused = std::chrono::seconds(10);
  };

  // Everything given outlives it. `ids` where several processes serve as one: without, an id is a random text. With
  // `records`, others can go on with sessions when this process has ended.
  Sessions(const Clock& clock, Listeners& listeners, EventStore& events, Limits limits, const SessionIds* ids = nullptr,
           SessionRecords* records = nullptr)
      : clock_(clock),
        listeners_(listeners),
        events_(events),
        ids_(ids),
        records_(records),
        limits_(limits),
        places_(limits.sessions, limits.reserve) {}

  // Fails where there are too many, or too many of this principal; idle ones are ended first, and before that fails
  // also those that were never used. Fails, too, where what the caller was granted has been withdrawn since.
  Result<std::shared_ptr<Session>> create(Session::Hello hello, std::shared_ptr<SessionLine> line = nullptr);
  // Told of sessions that another process goes on with, before they end here. Before there are any.
  void set_on_leave(std::function<void(Session&)> on_leave) { on_leave_ = std::move(on_leave); }
  // Goes on with a session that this process has taken over, as the record says.
  Result<std::shared_ptr<Session>> adopt(std::string id, Session::Hello hello, const SessionRecord& record);
  // Asks whether another process has it by now; then it ends here, and nowhere else. False where it is not here any
  // more. Fails where nobody can be asked.
  Task<Result<bool>> make_sure(std::shared_ptr<Session> session);
  // Whether nobody could be asked for as long as a request waits for that: the next ones do not.
  bool is_unsure() const { return is_unsure_; }
  void set_unsure(bool unsure) { is_unsure_ = unsure; }
  // Leaves those that nobody uses just now, of which there is a record, to whichever process is asked for them next.
  // Says how many of those with a record are still here.
  std::size_t hand_over();
  // Nothing where it does not exist, or belongs to another caller: the two look the same.
  std::shared_ptr<Session> find(std::string_view id, const Caller& caller);
  bool remove(std::string_view id, const Caller& caller);

  void end_idle() { end_idle(limits_.idle); }
  // Those of some callers. The reason is for clients that wait for an answer.
  void end(const Listeners::Concerns& concerns, const std::string& reason = {});
  // Those of one principal whom it concerns; looks at nobody else's.
  void end_of(const std::string& principal, const Listeners::Concerns& concerns, const std::string& reason = {});
  void close_all();
  std::size_t size() const { return places_.taken(); }
  // For operators: a session, and when it was last used.
  struct Open {
    std::shared_ptr<Session> session;
    Clock::Monotonic began;
    Clock::Monotonic last_used;
  };
  std::vector<Open> all();
  // False where it is gone already.
  bool end(const ClientSessionId& id, const std::string& reason);
  // Those with a way to their client for what belongs to no request.
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
  // Another process has it. One that has its id is another session, which was taken back meanwhile.
  void drop(const Session& session);
  // Nobody will go on with it.
  void end(Entry& entry, const std::string& reason = {});
  // Another process will.
  void leave(Session& session, const std::string& reason = {});
  void end_idle(std::chrono::seconds unused);

  const Clock& clock_;
  Listeners& listeners_;
  EventStore& events_;
  const SessionIds* const ids_;
  SessionRecords* const records_;
  std::function<void(Session&)> on_leave_;
  const Limits limits_;
  SessionPlaces places_;
  std::atomic<bool> is_unsure_ = false;
  std::atomic<Clock::Monotonic> last_sweep_{Clock::Monotonic{}};
  std::array<Shard, 16> shards_;
};

}  // namespace proteus::server
