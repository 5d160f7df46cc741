#include "store/sql/sql_store.hpp"

#include <utility>

#include "base/log/log.hpp"
#include "base/tasks/delivery.hpp"
#include "store/errors.hpp"
#include "store/sql/member_rows.hpp"
#include "store/sql/pin_rows.hpp"
#include "store/sql/rows.hpp"
#include "store/sql/sealed_rows.hpp"
#include "store/sql/session_rows.hpp"
#include "store/sql/token_rows.hpp"

namespace proteus::store::sql {
namespace {

Error not_posted(Posted posted) { return posted == Posted::full ? errors::store_overloaded() : errors::store_closed(); }

// The result of an operation, which the operation's thread delivers.
template <class T>
struct Outcome {
  T value{};
  Delivery<Result<T>> delivery;
};

template <class T>
void deliver_into(Operation& operation, const std::shared_ptr<Outcome<T>>& outcome,
                  std::function<Result<T>(Connection&)> apply) {
  operation.apply = [outcome, apply = std::move(apply)](Connection& connection) -> Result<> {
    auto applied = apply(connection);
    if (!applied) return std::unexpected(std::move(applied.error()));
    outcome->value = std::move(*applied);
    return {};
  };
  operation.done = [outcome](Result<> done) {
    if (done) {
      outcome->delivery.deliver(std::move(outcome->value));
    } else {
      outcome->delivery.deliver(std::unexpected(std::move(done.error())));
    }
  };
}

// Returns the only record that a unique key selects; nothing if there is none.
template <class Record>
Result<std::optional<Record>> only(Result<std::vector<Record>> records) {
  if (!records) return std::unexpected(std::move(records.error()));
  if (records->empty()) return std::nullopt;
  return std::move(records->front());
}

}  // namespace

template <class T>
Task<Result<T>> SqlStore::in_reader(std::function<Result<T>(Connection&)> read) {
  auto outcome = std::make_shared<Outcome<T>>();
  Operation operation;
  deliver_into(operation, outcome, std::move(read));
  const auto posted = post_read(std::move(operation));
  if (posted != Posted::yes) co_return std::unexpected(not_posted(posted));
  co_return co_await Delivery<Result<T>>::receive({outcome, &outcome->delivery});
}

template <class T>
Task<Result<T>> SqlStore::in_writer(Operation operation, std::function<Result<T>(Connection&)> apply,
                                    std::size_t bytes) {
  auto outcome = std::make_shared<Outcome<T>>();
  deliver_into(operation, outcome, std::move(apply));
  const auto posted = post_write(std::move(operation), bytes);
  if (posted != Posted::yes) co_return std::unexpected(not_posted(posted));
  co_return co_await Delivery<Result<T>>::receive({outcome, &outcome->delivery});
}

void SqlStore::note(Side side, std::optional<Health::Trouble> trouble) {
  const std::lock_guard lock(mutex_);
  auto& noted = side == Side::writing ? health_.writing : health_.reading;
  // A damaged file does not heal, even if other parts of it can be read, or another trouble passes.
  if (noted && noted->fault == Fault::corrupt && (!trouble || trouble->fault != Fault::corrupt)) return;
  const std::string_view doing = side == Side::writing ? "writing to" : "reading from";
  // Logs once per kind of trouble, not once per request.
  if (trouble && (!noted || noted->fault != trouble->fault)) log::error("{} the store: {}", doing, trouble->message);
  if (!trouble && noted) log::info("{} the store works again", doing);
  noted = std::move(trouble);
}

Health SqlStore::health() const {
  const std::lock_guard lock(mutex_);
  return health_;
}

void SqlStore::on_feed(std::function<void()> grew) {
  const std::lock_guard lock(feed_mutex_);
  feed_grew_ = std::move(grew);
}

void SqlStore::feed_grew() {
  const std::lock_guard lock(feed_mutex_);
  if (feed_grew_) feed_grew_();
}

Task<Result<Written>> SqlStore::write(Writes writes) {
  if (auto checked = store::check(writes); !checked) co_return std::unexpected(std::move(checked.error()));
  const std::size_t bytes = bytes_of(writes);
  auto owned = std::make_shared<const Writes>(std::move(writes));
  Operation operation;
  operation.check = [owned](Connection& connection) { return check_expected(connection, *owned); };
  operation.is_announced = retention_.feed > 0 && count_in_feed(*owned) > 0;
  co_return co_await in_writer<Written>(
      std::move(operation),
      [this, owned](Connection& connection) { return sql::write(connection, sealer_, retention_, *owned); }, bytes);
}

Task<Result<std::size_t>> SqlStore::reseal() {
  return in_writer<std::size_t>(
      Operation(), [this](Connection& connection) { return sql::reseal(connection, sealer_); }, 0);
}

Task<Result<std::vector<UpstreamRecord>>> SqlStore::upstreams() {
  return in_reader<std::vector<UpstreamRecord>>(
      [this](Connection& connection) { return read_upstreams(connection, sealer_, std::nullopt); });
}

Task<Result<std::optional<UpstreamRecord>>> SqlStore::upstream(std::string name) {
  return in_reader<std::optional<UpstreamRecord>>([this, name = std::move(name)](Connection& connection) {
    return only(read_upstreams(connection, sealer_, name));
  });
}

Task<Result<std::vector<SnapshotRecord>>> SqlStore::snapshots() {
  return in_reader<std::vector<SnapshotRecord>>(
      [](Connection& connection) { return read_snapshots(connection, std::nullopt); });
}

Task<Result<std::vector<SnapshotRecord>>> SqlStore::snapshots_of(std::string upstream) {
  return in_reader<std::vector<SnapshotRecord>>(
      [upstream = std::move(upstream)](Connection& connection) { return read_snapshots(connection, upstream); });
}

Task<Result<ChangePage>> SqlStore::changes(std::uint64_t since, std::size_t limit) {
  return in_reader<ChangePage>(
      [since, limit](Connection& connection) { return read_changes(connection, since, limit); });
}

Task<Result<FeedPage>> SqlStore::feed(std::uint64_t since, std::size_t limit) {
  return in_reader<FeedPage>([since, limit](Connection& connection) { return read_feed(connection, since, limit); });
}

Task<Result<std::vector<AuditRecord>>> SqlStore::audits(std::size_t limit, std::optional<std::uint64_t> before) {
  return in_reader<std::vector<AuditRecord>>(
      [limit, before](Connection& connection) { return read_audits(connection, limit, before); });
}

Task<Result<std::optional<std::string>>> SqlStore::setting(std::string key) {
  return in_reader<std::optional<std::string>>(
      [key = std::move(key)](Connection& connection) { return read_setting(connection, key); });
}

Task<Result<std::vector<Setting>>> SqlStore::settings(std::string prefix) {
  return in_reader<std::vector<Setting>>(
      [prefix = std::move(prefix)](Connection& connection) { return read_settings(connection, prefix); });
}

Task<Result<std::vector<PinRecord>>> SqlStore::pins_of(std::string upstream) {
  return in_reader<std::vector<PinRecord>>(
      [upstream = std::move(upstream)](Connection& connection) { return read_pins(connection, upstream); });
}

Task<Result<std::vector<ToolSessionRecord>>> SqlStore::tool_sessions() {
  return in_reader<std::vector<ToolSessionRecord>>(
      [this](Connection& connection) { return read_tool_sessions(connection, sealer_, std::nullopt); });
}

Task<Result<std::optional<ToolSessionRecord>>> SqlStore::tool_session(std::string id) {
  return in_reader<std::optional<ToolSessionRecord>>(
      [this, id = std::move(id)](Connection& connection) { return only(read_tool_sessions(connection, sealer_, id)); });
}

Task<Result<std::vector<SessionToolRecord>>> SqlStore::session_tools() {
  return in_reader<std::vector<SessionToolRecord>>(
      [this](Connection& connection) { return read_session_tools(connection, sealer_, std::nullopt); });
}

Task<Result<std::vector<SessionToolRecord>>> SqlStore::session_tools_of(std::string session) {
  return in_reader<std::vector<SessionToolRecord>>([this, session = std::move(session)](Connection& connection) {
    return read_session_tools(connection, sealer_, session);
  });
}

Task<Result<std::vector<TokenRecord>>> SqlStore::tokens() {
  return in_reader<std::vector<TokenRecord>>(
      [this](Connection& connection) { return read_tokens(connection, sealer_, std::nullopt); });
}

Task<Result<std::optional<TokenRecord>>> SqlStore::token(std::string name) {
  return in_reader<std::optional<TokenRecord>>(
      [this, name = std::move(name)](Connection& connection) { return only(read_tokens(connection, sealer_, name)); });
}

Task<Result<std::vector<SealedRecord>>> SqlStore::sealed(std::string kind) {
  return in_reader<std::vector<SealedRecord>>([this, kind = std::move(kind)](Connection& connection) {
    return read_sealed(connection, sealer_, kind, std::nullopt);
  });
}

Task<Result<std::optional<SealedRecord>>> SqlStore::sealed_record(std::string kind, std::string id) {
  return in_reader<std::optional<SealedRecord>>(
      [this, kind = std::move(kind), id = std::move(id)](Connection& connection) {
        return only(read_sealed(connection, sealer_, kind, id));
      });
}

Task<Result<std::vector<MemberRecord>>> SqlStore::members() {
  return in_reader<std::vector<MemberRecord>>([](Connection& connection) { return read_members(connection); });
}

Task<Result<std::vector<LeaseRecord>>> SqlStore::leases() {
  return in_reader<std::vector<LeaseRecord>>([](Connection& connection) { return read_leases(connection); });
}

}  // namespace proteus::store::sql
