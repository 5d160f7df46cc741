#include "client/api/host.hpp"

#include <utility>

#include <boost/asio/error.hpp>
#include <boost/system/system_error.hpp>
#include <fmt/format.h>

#include "base/log/log.hpp"
#include "client/connection/attempt.hpp"
#include "client/connection/calls.hpp"
#include "client/connection/transports.hpp"

namespace proteus::client {

void CallingThread::post(std::function<void()> function, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  functions_.push(std::move(function), bytes);
  wake_.notify_one();
}

void CallingThread::finish() {
  const std::lock_guard lock(mutex_);
  finished_ = true;
  wake_.notify_one();
}

void CallingThread::run() {
  std::exception_ptr failure;
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [this] { return finished_ || !functions_.empty(); });
    if (functions_.empty()) break;
    const auto function = functions_.pop();
    if (failure) continue;
    lock.unlock();
    try {
      const CallbackScope inside;
      function();
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
  }
  if (const auto dropped = functions_.take_dropped(); dropped > 0)
    log::warning("{} progress notifications were dropped: their callback is too slow", dropped);
  if (failure) std::rethrow_exception(failure);
}

Error error_of(const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const boost::system::system_error& fault) {
    if (fault.code() == boost::asio::error::operation_aborted) return errors::cancelled("the call");
    return errors::internal(fault.what());
  } catch (const std::exception& fault) {
    return errors::internal(fault.what());
  } catch (...) {
    return errors::internal("something was thrown that is no std::exception");
  }
}

Host::CallUnderWay::CallUnderWay(Host& host) : host_(host) {
  const std::lock_guard lock(host_.mutex_);
  allowed_ = !host_.closing_;
  if (allowed_) ++host_.turns_;
}

Host::CallUnderWay::~CallUnderWay() {
  if (!allowed_) return;
  const std::lock_guard lock(host_.mutex_);
  if (--host_.turns_ == 0) host_.idle_.notify_all();
}

Host::Host(std::shared_ptr<boost::asio::io_context> io, Endpoint endpoint, Options options, net::HttpClientOptions http,
           HostSettings settings, OnChange on_change)
    : io_(std::move(io)),
      http_(*io_, clock_, std::move(http)),
      settings_(std::move(settings)),
      on_change_(std::move(on_change)),
      refresher_(settings_.refresh, refreshing(), transports_to(std::move(endpoint), *io_, http_),
                 completed(std::move(options))),
      thread_([this] { io_->run(); }) {}

Host::~Host() { close(); }

Options Host::completed(Options options) {
  options.log = std::make_shared<StrangerLog>(settings_.name);
  if (settings_.oauth)
    options.authorizer = std::make_shared<OAuthAuthorizer>(io_->get_executor(), fetch_, clock_, *settings_.oauth);
  return options;
}

Refresher::Dependencies Host::refreshing() {
  return {.executor = io_->get_executor(),
          .clock = clock_,
          .chance = random_chance,
          .breaker = breaker_,
          .name = settings_.name,
          .read = [this] { return read(); },
          .on_read = [this](const Reading& reading) { on_read(reading); }};
}

Result<> Host::open() {
  refresher_.start();
  CallingThread caller;
  return call<void>([this](Connection&) { return refresher_.first_try(); }, caller);
}

Task<Result<Gathered>> Host::read() {
  const auto before = inventory();
  auto after = co_await take_inventory(refresher_.connection(), settings_.list_meta, before);
  if (!after) co_return std::unexpected(std::move(after.error()));
  log_unimplemented(settings_.name, before ? before->faults : std::vector<ListFault>(), (*after)->faults);
  Gathered gathered{changes_between(before.get(), **after), (*after)->failure};
  const std::lock_guard lock(mutex_);
  inventory_ = std::move(*after);
  co_return gathered;
}

// The first reading is never reported as a change. If it fails, the first that succeeds is: the server came late.
void Host::on_read(const Reading& reading) {
  const bool first = !std::exchange(read_once_, true);
  if (!first && !reading.change.empty()) on_change_(reading.change);
}

Reading Host::read_now() {
  CallingThread caller;
  const auto refresh = [](Refresher& refresher) -> Task<Result<Reading>> { co_return co_await refresher.refresh(); };
  auto reading = call<Reading>([&](Connection&) { return refresh(refresher_); }, caller);
  if (reading) return std::move(*reading);
  return {.at = clock_.wall(), .error = std::move(reading.error())};
}

void Host::freshen() {
  if (refresher_.is_stale()) read_now();
}

Result<Answer> Host::request(std::function<Task<Result<Answer>>(Connection&)> make, CallingThread& meanwhile) {
  return call<Answer>([&](Connection&) { return send(std::move(make)); }, meanwhile);
}

Task<Result<Answer>> Host::send(std::function<Task<Result<Answer>>(Connection&)> make) {
  co_await refresher_.freshen();
  Attempt attempt(breaker_);
  if (!attempt.may_be_sent()) {
    ++refused_requests_;
    co_return std::unexpected(errors::unreachable(
        fmt::format("{} has failed repeatedly and is not asked for now; try again later", settings_.name)));
  }
  ++requests_;
  auto answer = co_await make(refresher_.connection());
  attempt.report(answer);
  if (!answer) ++failed_requests_;
  if (answer && wants_refresh(*answer)) co_await refresher_.refresh();
  co_return answer;
}

void Host::close() {
  {
    const std::lock_guard lock(mutex_);
    if (closing_) return;
    closing_ = true;
  }
  CallingThread caller;
  boost::asio::co_spawn(*io_, shut_down(), [&](const std::exception_ptr&, const Result<>&) { caller.finish(); });
  caller.run();
  {
    std::unique_lock lock(mutex_);
    idle_.wait(lock, [this] { return turns_ == 0; });
  }
  work_.reset();
  io_->stop();
  thread_.join();
}

Task<Result<>> Host::shut_down() {
  co_await refresher_.close();
  http_.close();
  co_return Result<>{};
}

std::shared_ptr<const Inventory> Host::inventory() const {
  const std::lock_guard lock(mutex_);
  return inventory_;
}

Counters Host::counters() const {
  const ServerHealth health = refresher_.health();
  return {.requests = requests_,
          .failed_requests = failed_requests_,
          .refused_requests = refused_requests_,
          .refreshes = health.refreshes,
          .failed_refreshes = health.failed_refreshes,
          .announcements = health.announcements};
}

}  // namespace proteus::client
