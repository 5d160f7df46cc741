#include "cluster/member.hpp"

#include <algorithm>
#include <set>
#include <tuple>

#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/log.hpp"
#include "base/waiting.hpp"

namespace proteus::cluster {

namespace asio = boost::asio;

namespace {

constexpr std::size_t kEntriesAtOnce = 1'000;
constexpr std::chrono::milliseconds kSettleLook{10};
constexpr std::chrono::milliseconds kTryAgain{250};
constexpr std::chrono::seconds kLookOut{1};

// Each once, where it was first.
Member::Changed keys_of(const std::vector<store::FeedEntry>& entries) {
  Member::Changed keys;
  std::set<std::tuple<store::RecordKind, std::string_view, std::string_view>> seen;
  for (const auto& entry : entries) {
    if (seen.emplace(entry.key.kind, entry.key.name, entry.key.part).second) keys.push_back(entry.key);
  }
  return keys;
}

}  // namespace

Member::Member(asio::io_context& io, store::Store& store, const Clock& clock, MemberOptions options)
    : io_(io),
      store_(store),
      clock_(clock),
      options_(std::move(options)),
      tasks_(io.get_executor()),
      timer_(io),
      caught_up_(clock.now()) {}

Member::~Member() { store_.on_feed({}); }

Task<Result<>> Member::join() {
  store::Writes writes;
  writes.emplace_back(store::Attend{{.name = options_.name, .facts = options_.facts, .applied = 0, .unseen = {}}});
  if (auto written = co_await store_.write(std::move(writes)); !written)
    co_return std::unexpected(std::move(written.error()));
  const auto page = co_await store_.feed(0, 1);
  if (!page) co_return std::unexpected(page.error());
  applied_ = page->newest;
  caught_up_ = clock_.now();
  attended_at_ = clock_.now();
  co_return Result<>{};
}

void Member::start(Apply apply, OnBlind on_blind) {
  apply_ = std::move(apply);
  on_blind_ = std::move(on_blind);
  store_.on_feed([this] {
    asio::post(io_, [this] {
      grown_ = true;
      timer_.cancel();
    });
  });
  tasks_.spawn("following others' changes", run());
  tasks_.spawn("looking out for others", look_out());
}

Task<> Member::leave() {
  stopped_ = true;
  store_.on_feed({});
  // What was posted before this is over then.
  co_await asio::post(io_, asio::use_awaitable);
  timer_.cancel();
  tasks_.cancel();
  co_await tasks_.join();
  store::Writes writes;
  writes.emplace_back(store::Leave{options_.name});
  if (const auto written = co_await store_.write(std::move(writes)); !written)
    log::warning("other processes are not told that this one ends: {}", written.error().message());
}

Task<> Member::run() {
  // A change that has begun to be applied is applied to its end.
  co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
  while (!stopped_) {
    grown_ = false;
    const bool caught_up = co_await catch_up();
    if (stopped_) co_return;
    co_await attend();
    if (stopped_ || grown_) continue;
    timer_.expires_after(caught_up ? options_.attend_every : std::min(options_.attend_every, kTryAgain));
    boost::system::error_code ignored;
    co_await timer_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  }
}

Task<bool> Member::catch_up() {
  for (;;) {
    const auto began = clock_.now();
    const auto page = co_await store_.feed(applied_, kEntriesAtOnce);
    if (!page) {
      if (!std::exchange(away_, true))
        log::warning("changes of other processes cannot be read: {}", page.error().message());
      co_return false;
    }
    if (page->newest == applied_) {
      if (std::exchange(away_, false)) log::info("changes of other processes can be read again");
      caught_up_ = began;
      co_return true;
    }
    // A number that is smaller than ours is of another database: one that was restored from a copy.
    const bool missed = page->entries.empty() || page->entries.front().number != applied_ + 1;
    const Changed keys = missed ? Changed() : keys_of(page->entries);
    const std::uint64_t until = missed ? page->newest : page->entries.back().number;
    const auto applied = co_await apply_(missed ? nullptr : &keys);
    if (!applied) {
      if (!std::exchange(away_, true))
        log::warning("changes of other processes cannot be applied: {}", applied.error().message());
      co_return false;
    }
    if (missed) log::warning("too much had changed meanwhile: everything was read again");
    applied_ = until;
  }
}

Task<> Member::attend() {
  const auto now = clock_.now();
  const std::uint64_t applied = applied_;
  if (applied == attended_ && now - attended_at_ < options_.attend_every) co_return;
  store::Writes writes;
  writes.emplace_back(
      store::Attend{{.name = options_.name, .facts = options_.facts, .applied = applied, .unseen = {}}});
  const auto written = co_await store_.write(std::move(writes));
  if (!written) co_return;
  attended_ = applied;
  attended_at_ = now;
}

// Apart from the rest, which may have to wait for the store.
Task<> Member::look_out() {
  for (;;) {
    co_await sleep_for(std::min<std::chrono::milliseconds>(kLookOut, options_.blind_after));
    const bool blind = behind() >= options_.blind_after;
    if (blind == blind_) continue;
    blind_ = blind;
    if (blind)
      log::error("changes of other processes may have been missed: tokens that were made at runtime are refused");
    if (!blind) log::info("tokens that were made at runtime are served again");
    on_blind_(blind);
  }
}

Task<Result<Member::Settled>> Member::settle() {
  const auto page = co_await store_.feed(applied_, 1);
  if (!page) co_return std::unexpected(page.error());
  const std::uint64_t wanted = page->newest;
  const auto until = clock_.now() + options_.settle;
  for (;;) {
    const auto members = co_await store_.members();
    if (!members) co_return std::unexpected(members.error());
    Settled settled;
    for (const auto& member : *members) {
      const bool self = member.name == options_.name;
      if (!self && !lives(member)) continue;
      ++settled.live;
      if ((self ? applied_.load() : member.applied) >= wanted) ++settled.applied;
    }
    if (settled.all() || clock_.now() >= until) co_return settled;
    co_await sleep_for(kSettleLook);
  }
}

}  // namespace proteus::cluster
