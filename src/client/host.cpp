#include "client/host.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>

#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/log.hpp"
#include "client/transports.hpp"

namespace proteus::client {
namespace {

constexpr std::chrono::milliseconds kFirstRetry{500};
constexpr std::chrono::milliseconds kLastRetry{60'000};

// Those who failed together do not come back together.
std::chrono::milliseconds jittered(std::chrono::milliseconds delay, double least, double most) {
  thread_local std::minstd_rand generator(std::random_device{}());
  const double part = std::uniform_real_distribution<double>(least, most)(generator);
  return std::chrono::milliseconds(std::max<std::int64_t>(1, std::llround(static_cast<double>(delay.count()) * part)));
}

// One reading at a time.
class ReadingFlag {
 public:
  ReadingFlag(bool& flag, Bell& settled) : flag_(flag), settled_(settled) { flag_ = true; }
  ~ReadingFlag() {
    flag_ = false;
    settled_.ring();
  }
  ReadingFlag(const ReadingFlag&) = delete;
  ReadingFlag& operator=(const ReadingFlag&) = delete;

 private:
  bool& flag_;
  Bell& settled_;
};

}  // namespace

void CallingThread::post(std::function<void()> function) {
  const std::lock_guard lock(mutex_);
  functions_.push_back(std::move(function));
  wake_.notify_one();
}

void CallingThread::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [this] { return !functions_.empty(); });
    const auto function = std::move(functions_.front());
    functions_.pop_front();
    if (!function) return;
    lock.unlock();
    function();
    lock.lock();
  }
}

Host::Turn::Turn(Host& host) : host_(host) {
  const std::lock_guard lock(host_.mutex_);
  allowed_ = !host_.closing_;
  if (allowed_) ++host_.turns_;
}

Host::Turn::~Turn() {
  if (!allowed_) return;
  const std::lock_guard lock(host_.mutex_);
  if (--host_.turns_ == 0) host_.idle_.notify_all();
}

// A timer of its own, so that stopping one and starting another cannot mix them up.
struct Host::Poller {
  Poller(boost::asio::io_context& io, std::chrono::milliseconds each) : interval(each), timer(io) {}

  const std::chrono::milliseconds interval;
  bool stopped = false;             // of the host's thread
  boost::asio::steady_timer timer;  // of the host's thread
};

Host::Host(std::shared_ptr<boost::asio::io_context> io, Endpoint endpoint, Options options, net::HttpClientOptions http,
           Listen listen, OnChange on_change)
    : io_(std::move(io)),
      http_(*io_, clock_, std::move(http)),
      listen_(listen),
      on_change_(std::move(on_change)),
      connection_(io_->get_executor(), transports_to(std::move(endpoint), *io_, http_),
                  with_announcements(std::move(options))),
      thread_([this] { io_->run(); }) {}

Host::~Host() { close(); }

Options Host::with_announcements(Options options) {
  options.on_announcement = [this](const Announcement& announcement) { on_announcement(announcement); };
  return options;
}

Result<> Host::open() {
  CallingThread caller;
  const auto opened = call<bool>([this](Connection&) { return open_and_read(); }, caller);
  if (!opened) return std::unexpected(opened.error());
  return {};
}

Task<Result<bool>> Host::open_and_read() {
  const auto reading = co_await read_all();
  if (!reading) co_return std::unexpected(reading.error());
  if (reading->error) co_return std::unexpected(*reading->error);
  co_return true;
}

Reading Host::read_now() {
  CallingThread caller;
  auto reading = call<Reading>([this](Connection&) { return read_all(); }, caller);
  if (reading) return std::move(*reading);
  return {.at = clock_.wall(), .duration = {}, .error = std::move(reading.error()), .changes = {}};
}

void Host::keep_trying() {
  boost::asio::post(*io_, [this] { tasks_.spawn("connecting", try_until_there()); });
}

Task<> Host::try_until_there() {
  boost::asio::steady_timer pause(*io_);
  for (auto delay = kFirstRetry; !inventory(); delay = std::min(delay * 2, kLastRetry)) {
    pause.expires_after(jittered(delay, 0.5, 1.0));
    co_await pause.async_wait(boost::asio::use_awaitable);
    if (!inventory()) co_await read_all();
  }
}

void Host::start_polling(std::chrono::milliseconds interval) {
  const std::lock_guard lock(mutex_);
  if (poller_ || closing_) return;
  poller_ = std::make_shared<Poller>(*io_, interval);
  boost::asio::post(*io_, [this, poller = poller_] { tasks_.spawn("polling", poll(poller)); });
}

void Host::stop_polling() {
  const std::lock_guard lock(mutex_);
  if (!poller_) return;
  boost::asio::post(*io_, [poller = std::exchange(poller_, nullptr)] {
    poller->stopped = true;
    poller->timer.cancel();
  });
}

bool Host::polls() const {
  const std::lock_guard lock(mutex_);
  return poller_ != nullptr && !closing_;
}

Task<> Host::poll(std::shared_ptr<Poller> poller) {
  while (!poller->stopped) {
    poller->timer.expires_after(jittered(poller->interval, 0.9, 1.1));
    boost::system::error_code ended;
    co_await poller->timer.async_wait(boost::asio::redirect_error(boost::asio::use_awaitable, ended));
    if (!ended && !poller->stopped) co_await read_all();
  }
}

void Host::close() {
  {
    const std::lock_guard lock(mutex_);
    if (closing_) return;
    closing_ = true;
  }
  CallingThread caller;
  boost::asio::co_spawn(*io_, shut_down(), [&](const std::exception_ptr&, const Result<bool>&) { caller.finish(); });
  caller.run();
  {
    std::unique_lock lock(mutex_);
    idle_.wait(lock, [this] { return turns_ == 0; });
  }
  work_.reset();
  io_->stop();
  thread_.join();
}

Task<Result<bool>> Host::shut_down() {
  tasks_.cancel();
  co_await connection_.close();
  co_await tasks_.join();
  http_.close();
  co_return true;
}

Task<Result<std::shared_ptr<const Inventory>>> Host::discover() {
  const auto facts = co_await connection_.open();
  if (!facts) co_return std::unexpected(facts.error());
  const auto& offers = (*facts)->offers;
  mcp::SubscriptionFilter wanted;
  wanted.tools = offers.tools.list_changed;
  wanted.prompts = offers.prompts.list_changed;
  wanted.resources = offers.resources.list_changed;
  if (listen_ == Listen::yes && (wanted.tools || wanted.prompts || wanted.resources)) {
    // Before the lists are read, so that no change falls in between.
    const auto listening = co_await connection_.listen(wanted);
    if (!listening) {
      const bool later = !is_final(listening.error());
      log::warning("changes will not be noticed{}: {}", later ? " for now" : "", listening.error().message());
      if (later && !std::exchange(listening_again_, true)) tasks_.spawn("listening", listen_again(wanted));
    }
  }
  co_return co_await take_inventory(connection_);
}

Task<> Host::listen_again(mcp::SubscriptionFilter wanted) {
  boost::asio::steady_timer pause(*io_);
  for (auto delay = kFirstRetry;; delay = std::min(delay * 2, kLastRetry)) {
    pause.expires_after(jittered(delay, 0.5, 1.0));
    co_await pause.async_wait(boost::asio::use_awaitable);
    if (connection_.is_listening()) break;
    const auto listening = co_await connection_.listen(wanted);
    if (listening) {
      on_announcement({.kind = Announcement::Kind::reopened, .uri = {}});
      break;
    }
    if (is_final(listening.error())) break;
  }
  listening_again_ = false;
}

Task<Result<Reading>> Host::read_all() {
  while (refreshing_)
    co_await settled_.wait();
  const ReadingFlag flag(refreshing_, settled_);
  stale_.clear();
  const auto began = clock_.now();
  const auto before = inventory();
  const bool late = health().failures > 0;
  auto after = before ? co_await take_inventory(connection_) : co_await discover();
  Reading reading;
  reading.at = clock_.wall();
  reading.duration = std::chrono::duration_cast<std::chrono::milliseconds>(clock_.now() - began);
  if (!after) {
    failed(after.error());
    reading.error = std::move(after.error());
    co_return reading;
  }
  reading.changes = changes_between(before.get(), **after);
  publish(std::move(*after));
  succeeded();
  // What is there at the start is no change; where the server came late, it is.
  if (on_change_ && (before || late)) {
    for (const auto& change : reading.changes)
      on_change_(change);
  }
  if (!stale_.empty()) tasks_.spawn("refreshing", refresh());
  co_return reading;
}

void Host::succeeded() {
  const std::lock_guard lock(mutex_);
  health_ = {.failures = 0, .error = {}, .read_at = clock_.wall()};
}

void Host::failed(const Error& error) {
  const std::lock_guard lock(mutex_);
  ++health_.failures;
  health_.error = error;
}

Host::Health Host::health() const {
  const std::lock_guard lock(mutex_);
  return health_;
}

void Host::on_announcement(const Announcement& announcement) {
  switch (announcement.kind) {
    case Announcement::Kind::tools: stale_.insert(mcp::Method::tools_list); break;
    case Announcement::Kind::prompts: stale_.insert(mcp::Method::prompts_list); break;
    case Announcement::Kind::resources:
      stale_.insert(mcp::Method::resources_list);
      stale_.insert(mcp::Method::resource_templates_list);
      break;
    case Announcement::Kind::reopened: stale_.insert(kListMethods.begin(), kListMethods.end()); break;
    case Announcement::Kind::resource:
    case Announcement::Kind::interrupted:
    case Announcement::Kind::ended: return;
  }
  if (inventory() && !refreshing_) tasks_.spawn("refreshing", refresh());
}

// What is announced meanwhile is read in another turn, however often it was announced.
Task<> Host::refresh() {
  while (refreshing_)
    co_await settled_.wait();
  const ReadingFlag flag(refreshing_, settled_);
  while (!stale_.empty()) {
    const mcp::Method method = stale_.extract(stale_.begin()).value();
    auto listing = co_await connection_.list(method);
    if (!listing) {
      log::warning("{} could not be read again: {}", mcp::to_string(method), listing.error().message());
      failed(listing.error());
      continue;
    }
    const auto before = inventory();
    auto next = std::make_shared<Inventory>(*before);
    const auto at = static_cast<std::size_t>(std::ranges::find(kListMethods, method) - kListMethods.begin());
    next->lists.at(at) = std::make_shared<const Listing>(std::move(*listing));
    const auto changes = changes_between(before.get(), *next);
    publish(std::move(next));
    succeeded();
    if (!on_change_) continue;
    for (const auto& change : changes)
      on_change_(change);
  }
}

void Host::publish(std::shared_ptr<const Inventory> inventory) {
  const std::lock_guard lock(mutex_);
  facts_ = connection_.facts();
  inventory_ = std::move(inventory);
}

std::shared_ptr<const ServerFacts> Host::facts() const {
  const std::lock_guard lock(mutex_);
  return facts_;
}

std::shared_ptr<const Inventory> Host::inventory() const {
  const std::lock_guard lock(mutex_);
  return inventory_;
}

}  // namespace proteus::client
