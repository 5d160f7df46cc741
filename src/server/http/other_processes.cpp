// The part of HttpEndpoint for requests that another process answers, and for sessions that this process takes over
// because their process has ended or has handed them over (REP-09, REP-10, REP-14).
#include "base/log/log.hpp"
#include "base/tasks/waiting.hpp"
#include "server/http/http_answer.hpp"
#include "server/http/http_endpoint.hpp"

namespace proteus::server {
namespace {

// Several requests of a client may arrive at once; one of them takes the session over and the others wait.
constexpr int kTries = 50;
constexpr std::chrono::milliseconds kPause{20};

// Announces everything of which the client may not have been notified meanwhile.
void announce_all(Session& session, const mcp::ServerCapabilities& offered) {
  if (offered.tools.list_changed) session.list_changed(mcp::Method::tools_changed);
  if (offered.prompts.list_changed) session.list_changed(mcp::Method::prompts_changed);
  if (offered.resources.list_changed) session.list_changed(mcp::Method::resources_changed);
  for (const auto& uri : session.subscriptions())
    session.resource_updated(uri);
}

}  // namespace

ProcessKey HttpEndpoint::maker_of(std::string_view id, const Caller& caller, Via via) {
  if (!opened_ids_ || options_.others == nullptr || via == Via::peer) return {};
  auto facts = opened_ids_->open(id, caller);
  return facts && facts->maker != options_.session_ids->self() ? std::move(facts->maker) : ProcessKey();
}

Task<bool> HttpEndpoint::pass_on(net::Exchange& exchange, ProcessKey to, std::string_view id, mcp::Era era) const {
  const auto relayed = co_await relay(exchange, std::move(to), id, era);
  if (relayed == OtherProcesses::Relayed::not_there) {
    const Error error =
        errors::unreachable("another process of this gateway must answer this and cannot be reached; try again");
    co_await reply(exchange, HttpAnswer::error(503, id, error, era, kTryAgain));
  }
  co_return relayed != OtherProcesses::Relayed::gone;
}

Task<OtherProcesses::Relayed> HttpEndpoint::relay(net::Exchange& exchange, ProcessKey to, std::string_view id,
                                                  mcp::Era era) const {
  const auto relayed = co_await options_.others->relay(exchange, std::move(to));
  if (relayed) co_return *relayed;
  co_await refuse_relayed(exchange, relayed.error(), id, era);
  co_return OtherProcesses::Relayed::answered;
}

Task<> HttpEndpoint::refuse_relayed(net::Exchange& exchange, const Error& error, std::string_view id,
                                    mcp::Era era) const {
  // A request that may have been carried out must not be retried automatically.
  if (error.kind() != ErrorKind::unreachable) return reply(exchange, HttpAnswer::error(502, id, error, era));
  return reply(exchange, HttpAnswer::error(503, id, error, era, kTryAgain));
}

// Marks a session that a request takes over, so that only one request does so at a time.
class HttpEndpoint::Taking {
 public:
  Taking(HttpEndpoint& endpoint, const std::string& id) : endpoint_(endpoint), id_(id) {
    const std::scoped_lock lock(endpoint_.taking_mutex_);
    is_alone_ = endpoint_.taking_.insert(id).second;
  }
  ~Taking() {
    const std::scoped_lock lock(endpoint_.taking_mutex_);
    if (is_alone_) endpoint_.taking_.erase(id_);
  }
  Taking(const Taking&) = delete;
  Taking& operator=(const Taking&) = delete;

  bool is_alone() const { return is_alone_; }

 private:
  HttpEndpoint& endpoint_;
  const std::string& id_;
  bool is_alone_ = false;
};

Task<Result<HttpEndpoint::Whereabouts>> HttpEndpoint::find_or_take_over(std::string id, SessionFacts facts,
                                                                        Caller caller) {
  SessionRecords& records = *options_.session_records;
  const ProcessKey& self = options_.session_ids->self();
  for (int i = 0; i < kTries; ++i) {
    if (i > 0) co_await sleep_for(kPause);
    if (auto session = sessions_.find(id, caller)) co_return Whereabouts{.session = std::move(session)};
    auto record = co_await records.read(id);
    if (!record) co_return std::unexpected(std::move(record).error());
    if (!*record) co_return Whereabouts{};
    const SessionRecord::Holder before = (*record)->holder;
    // A session that this process has only according to the record is free, too: the answer to `replace` was lost.
    const bool is_free = before.process == nobody() || before.process == self;
    const auto lives = is_free ? Result<bool>(false) : co_await options_.others->lives(before.process);
    if (!lives) co_return std::unexpected(lives.error());
    if (*lives) co_return Whereabouts{.elsewhere = before.process};
    const Taking taking(*this, id);
    if (!taking.is_alone()) continue;
    if (auto session = sessions_.find(id, caller)) co_return Whereabouts{.session = std::move(session)};
    if (!(*record)->state) {
      // A part of the session lived in its process.
      records.remove(id, before);
      co_return Whereabouts{};
    }
    (*record)->holder = {self, before.term + 1};
    const auto replaced = co_await records.replace(id, before, **record);
    if (!replaced) co_return std::unexpected(replaced.error());
    if (!*replaced) continue;
    auto session = take_over(id, facts, caller, **record);
    if (!session) co_return std::unexpected(std::move(session).error());
    co_return Whereabouts{.session = std::move(*session)};
  }
  co_return std::unexpected(errors::unavailable("another request takes this session over; try again"));
}

Result<std::shared_ptr<Session>> HttpEndpoint::take_over(const std::string& id, const SessionFacts& facts,
                                                         const Caller& caller, const SessionRecord& record) {
  auto session = sessions_.adopt(id, {caller, facts.version, facts.client_capabilities, {}}, record);
  if (!session) {
    // Another process may have a place. If the credentials were withdrawn, the session is over.
    if (session.error().kind() == ErrorKind::unauthenticated) {
      options_.session_records->remove(id, record.holder);
    } else {
      options_.session_records->release(id, record);
    }
    return session;
  }
  log::info("a session of another process goes on here, which is number {} that has it", record.holder.term);
  service_.take_over(*session);
  announce_all(**session, service_.face(caller, mcp::Era::legacy).capabilities);
  return session;
}

}  // namespace proteus::server
