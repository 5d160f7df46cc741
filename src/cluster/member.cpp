#include "cluster/member.hpp"

#include <algorithm>
#include <iterator>

#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/log/log.hpp"
#include "base/tasks/waiting.hpp"

namespace proteus::cluster {

namespace asio = boost::asio;

namespace {

constexpr std::size_t kEntriesAtOnce = 1'000;
constexpr std::chrono::milliseconds kSettleLook{3};
constexpr std::chrono::milliseconds kTryAgain{250};
constexpr std::chrono::seconds kLookOut{1};

}  // namespace

Member::Member(asio::io_context& io, store::Store& store, const Clock& clock, MemberOptions options)
    : io_(io),
      store_(store),
      clock_(clock),
      options_(std::move(options)),
      tasks_(io.get_executor()),
      timer_(io),
      attend_timer_(io),
      attending_(io.get_executor()),
      look_timer_(io),
      looked_(io.get_executor()),
      caught_up_(clock.now()),
      facts_(options_.facts) {}

Member::~Member() { store_.on_feed({}); }

Task<Result<>> Member::join() {
  store::Writes writes;
  writes.emplace_back(store::Attend{{.name = options_.name, .facts = facts_, .applied = 0, .unseen = {}}});
  if (auto written = co_await store_.write(std::move(writes)); !written)
    co_return std::unexpected(std::move(written.error()));
  const auto page = co_await store_.feed(0, 1);
  if (!page) co_return std::unexpected(page.error());
  applied_ = page->newest;
  caught_up_ = clock_.now();
  attended_at_ = clock_.now();
  co_return Result<>{};
}

void Member::set_facts(std::string facts) {
  if (facts == facts_) return;
  facts_ = std::move(facts);
  told_ = false;
  grown_ = true;
  timer_.cancel();
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
  tasks_.spawn("writing heartbeats", keep_attending());
  tasks_.spawn("looking out for others", look_out());
}

Task<> Member::leave() {
  stopped_ = true;
  store_.on_feed({});
  // Waits until everything that was posted before has run.
  co_await asio::post(io_, asio::use_awaitable);
  timer_.cancel();
  attend_timer_.cancel();
  look_timer_.cancel();
  tasks_.cancel();
  co_await tasks_.join();
  store::Writes writes;
  writes.emplace_back(store::Leave{options_.name});
  if (const auto written = co_await store_.write(std::move(writes)); !written)
    log::warning("other processes are not told that this one ends: {}", written.error().message());
}

Task<> Member::run() {
  // Ignores cancellation, so that a change that has begun to be applied is applied completely.
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
    // A number smaller than ours belongs to another database: one that was restored from a backup.
    const bool missed = page->entries.empty() || page->entries.front().number != applied_ + 1;
    const std::uint64_t until = missed ? page->newest : page->entries.back().number;
    const auto applied = co_await apply_(missed ? nullptr : &page->entries);
    if (!applied) {
      if (!std::exchange(away_, true))
        log::warning("changes of other processes cannot be applied: {}", applied.error().message());
      co_return false;
    }
    if (missed) log::warning("too much had changed meanwhile: everything was read again");
    applied_ = until;
    look_timer_.cancel();
    // However many changes there are to follow, others must see a heartbeat.
    if (clock_.now() - attended_at_.load() >= options_.attend_every) co_await attend();
  }
}

// A separate coroutine, because a single change may take longer to apply than the others are patient.
Task<> Member::keep_attending() {
  co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
  while (!stopped_) {
    attend_timer_.expires_after(options_.attend_every / 2);
    boost::system::error_code ignored;
    co_await attend_timer_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
    if (!stopped_) co_await attend();
  }
}

Task<> Member::attend() {
  const auto turn = co_await attending_.take();
  const auto now = clock_.now();
  const std::uint64_t applied = applied_;
  if (told_ && applied == attended_ && now - attended_at_.load() < options_.attend_every) co_return;
  told_ = true;
  store::Writes writes;
  writes.emplace_back(store::Attend{{.name = options_.name, .facts = facts_, .applied = applied, .unseen = {}}});
  const auto written = co_await store_.write(std::move(writes));
  if (!written) co_return;
  attended_ = applied;
  // In this order, so that `is_in_doubt` is true all the while.
  if (const auto seen = clock_.now(); seen - attended_at_.load() >= options_.patience)
    doubted_until_ = seen + options_.patience;
  attended_at_ = now;
}

// A separate coroutine, because the others may have to wait for the store.
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
  co_return co_await asio::co_spawn(io_, wait_settled(), asio::use_awaitable);
}

Task<Result<Member::Settled>> Member::wait_settled() {
  const auto own = std::make_shared<Waiting>(Waiting{.until = clock_.now() + options_.settle});
  waiting_.push_back(own);
  if (!std::exchange(looking_, true)) tasks_.spawn("looking who has applied what", look_who_applied());
  look_timer_.cancel();
  while (!own->outcome)
    co_await looked_.wait();
  co_return std::move(*own->outcome);
}

// One loop for all waiters: a loop for each would delay the store, and with it what they wait for.
Task<> Member::look_who_applied() {
  co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
  while (!waiting_.empty()) {
    co_await look_once();
    std::erase_if(waiting_, [](const auto& one) { return one->outcome.has_value(); });
    looked_.ring();
    if (waiting_.empty() || !waiting(false).empty()) continue;
    look_timer_.expires_after(kSettleLook);
    boost::system::error_code ignored;
    co_await look_timer_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  }
  looking_ = false;
}

Task<> Member::look_once() {
  if (const auto fresh = waiting(false); !fresh.empty()) {
    const auto page = co_await store_.feed(applied_, 1);
    for (const auto& one : fresh) {
      if (page) one->wanted = page->newest;
      if (!page) one->outcome = std::unexpected(page.error());
    }
  }
  const auto knowing = waiting(true);
  // Nothing to read while not even this process has applied the change.
  const auto now = clock_.now();
  const auto is_due = [&](const auto& one) { return *one->wanted <= applied_ || now >= one->until; };
  if (std::ranges::none_of(knowing, is_due)) co_return;
  const auto members = co_await store_.members();
  for (const auto& one : knowing) {
    if (!members) {
      one->outcome = std::unexpected(members.error());
      continue;
    }
    const Settled settled = count(*members, *one->wanted);
    if (settled.all() || clock_.now() >= one->until) one->outcome = settled;
  }
}

std::vector<std::shared_ptr<Member::Waiting>> Member::waiting(bool know) const {
  std::vector<std::shared_ptr<Waiting>> found;
  std::ranges::copy_if(waiting_, std::back_inserter(found),
                       [&](const auto& one) { return !one->outcome && one->wanted.has_value() == know; });
  return found;
}

Member::Settled Member::count(const std::vector<store::MemberRecord>& members, std::uint64_t wanted) const {
  Settled settled;
  for (const auto& member : members) {
    const bool self = member.name == options_.name;
    if (!self && !lives(member)) continue;
    ++settled.live;
    if ((self ? applied_.load() : member.applied) >= wanted) ++settled.applied;
  }
  return settled;
}

}  // namespace proteus::cluster
