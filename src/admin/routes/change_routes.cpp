#include "admin/routes/change_routes.hpp"

#include <charconv>

#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/this_coro.hpp>
#include <fmt/format.h>

#include "admin/routes/upstream_document.hpp"
#include "base/log/log.hpp"
#include "json/text.hpp"
#include "net/http/sse.hpp"
#include "server/core/outbox.hpp"
#include "server/http/http_answer.hpp"

namespace proteus::admin {
namespace {

std::string write_record(const store::ChangeRecord& record) {
  std::string kinds;
  for (std::string_view rest = record.kind; !rest.empty();) {
    const std::string_view kind = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), kind.size() + 1));
    kinds += fmt::format("{}{}", kinds.empty() ? "" : ",", json::quote(kind));
  }
  return fmt::format(R"({{"number":{},"at":"{}","upstream":{},"kinds":[{}],"change":{}}})", record.number,
                     write_time(record.at), json::quote(record.upstream), kinds, record.change);
}

Task<Result<Answer>> page(gateway::ChangeLog& changes, std::uint64_t since, std::size_t limit) {
  const auto read = co_await changes.read(since, limit);
  if (!read) co_return std::unexpected(read.error());
  std::string all;
  for (const auto& record : read->changes)
    all += fmt::format("{}{}", all.empty() ? "" : ",", write_record(record));
  const std::uint64_t last = read->changes.empty() ? since : read->changes.back().number;
  co_return Answer{.body = fmt::format(R"({{"changes":[{}],"oldest":{},"newest":{},"next":{}}})", all, read->oldest,
                                       read->newest, last)};
}

// A stream that follows the log. Reads new changes from the store each time, so that nothing is lost, sent twice or
// kept in memory, however slowly the client reads.
class Follower {
 public:
  Follower(gateway::ChangeLog& changes, AdminRequest& request, std::uint64_t since)
      : changes_(changes),
        exchange_(request.exchange()),
        outbox_(std::make_shared<server::Outbox>(exchange_.executor())),
        since_(since),
        lease_(request.lease([outbox = outbox_] { outbox->close(); })) {
    registration_ = changes.listen([outbox = outbox_](const gateway::LoggedChange&) { outbox->push_once("new"); },
                                   [outbox = outbox_] { outbox->push_once("new"); });
    exchange_.on_disconnect([outbox = outbox_] { outbox->close(); });
    exchange_.on_drain([outbox = outbox_] { outbox->close(); });
  }

  Task<> run(std::chrono::milliseconds keep_alive) {
    bool open = co_await exchange_.begin_stream({.status = 200, .prepared = server::kEventsFields});
    // Shows the client at once that the stream is open.
    open = open && co_await exchange_.write(":\n\n");
    while (open && !outbox_->closed()) {
      const auto read = co_await changes_.read(since_, AdminRequest::kUsualLimit);
      if (!read) {
        log::warning("a stream of changes ends: {}", read.error().message());
        break;
      }
      const std::string events = write(*read);
      if (!events.empty()) {
        open = co_await exchange_.write(events);
        continue;
      }
      const auto event = co_await outbox_->wait(keep_alive);
      if (event == server::Outbox::Event::idle) open = co_await exchange_.write(":\n\n");
      outbox_->take();
    }
    if (open) co_await exchange_.end_stream();
  }

 private:
  std::string write(const store::ChangePage& page) {
    std::string out;
    // A number above the newest belongs to another store.
    const bool unknown = since_ > page.newest;
    if (unknown || (page.oldest > 0 && since_ + 1 < page.oldest && since_ > 0)) {
      const std::string data = fmt::format(R"({{"since":{},"oldest":{}}})", since_, page.oldest);
      net::write_sse_event(out, {.type = "gap", .data = data});
      if (unknown) since_ = 0;
    }
    if (unknown) return out;
    for (const auto& record : page.changes) {
      const std::string id = std::to_string(record.number);
      const std::string data = write_record(record);
      net::write_sse_event(out, {.type = "change", .data = data, .id = id});
      since_ = record.number;
    }
    return out;
  }

  gateway::ChangeLog& changes_;
  net::Exchange& exchange_;
  const std::shared_ptr<server::Outbox> outbox_;
  std::uint64_t since_;
  const AdminAuth::KeyLease lease_;
  gateway::ChangeLog::Registration registration_;
};

Task<Result<Answer>> follow(gateway::ChangeLog& changes, AdminRequest& request, std::uint64_t since,
                            std::chrono::milliseconds keep_alive) {
  Follower follower(changes, request, since);
  co_await follower.run(keep_alive);
  co_return Answer{.sent = true};
}

bool wants_stream(const net::Request& request) {
  return request.fields().find("Accept") && !server::accepts(request, server::kJsonType) &&
         server::accepts(request, server::kEventsType);
}

Task<Result<Answer>> changes_of(gateway::ChangeLog& changes, AdminRequest& request,
                                std::chrono::milliseconds keep_alive) {
  auto since = request.number("since");
  if (!since) co_return std::unexpected(std::move(since.error()));
  const auto limit = request.limit();
  if (!limit) co_return std::unexpected(limit.error());
  const net::Request& http = request.exchange().request();
  if (!wants_stream(http)) {
    co_return co_await page(changes, since->value_or(0), *limit);
  }
  std::uint64_t from = since->value_or(0);
  // A client that reconnects sends its original URL, so Last-Event-ID is newer than `since`.
  if (const auto last = http.fields().find("Last-Event-ID")) {
    const auto [end, fault] = std::from_chars(last->data(), last->data() + last->size(), from);
    if (fault != std::errc{} || end != last->data() + last->size())
      co_return std::unexpected(errors::invalid("Last-Event-ID does not belong to this stream"));
  }
  co_return co_await follow(changes, request, from, keep_alive);
}

}  // namespace

Routes change_routes(gateway::ChangeLog& changes, std::chrono::milliseconds keep_alive) {
  return {
      {.method = "GET",
       .path = "/admin/changes",
       .answer = "ChangePage",
       .help = "Shows what upstreams changed. With Accept: text/event-stream the answer stays open and follows new "
               "changes.",
       .parameters = {{"since", "Only changes with a higher number."},
                      {"limit", "Maximum number to return, up to 1000."}},
       .handle = [&changes, keep_alive](AdminRequest& request) { return changes_of(changes, request, keep_alive); }}};
}

}  // namespace proteus::admin
