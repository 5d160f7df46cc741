#include "client/host.hpp"

#include "base/log.hpp"
#include "client/transports.hpp"

namespace proteus::client {

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

Host::Host(std::shared_ptr<boost::asio::io_context> io, Endpoint endpoint, Options options, net::HttpClientOptions http,
           OnChange on_change)
    : io_(std::move(io)),
      http_(*io_, clock_, std::move(http)),
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
  const auto discovered = call<bool>([this](Connection&) { return discover(); }, caller);
  if (!discovered) return std::unexpected(discovered.error());
  return {};
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

Task<Result<bool>> Host::discover() {
  const auto facts = co_await connection_.open();
  if (!facts) co_return std::unexpected(facts.error());
  const auto& offers = (*facts)->offers;
  mcp::SubscriptionFilter wanted;
  wanted.tools = offers.tools.list_changed;
  wanted.prompts = offers.prompts.list_changed;
  wanted.resources = offers.resources.list_changed;
  if (wanted.tools || wanted.prompts || wanted.resources) {
    // Before the lists are read, so that no change falls in between.
    const auto listening = co_await connection_.listen(wanted);
    if (!listening) log::warning("changes will not be noticed: {}", listening.error().message());
  }
  auto inventory = co_await take_inventory(connection_);
  if (!inventory) co_return std::unexpected(std::move(inventory.error()));
  publish(std::move(*inventory));
  if (!stale_.empty() && !refreshing_) tasks_.spawn("refreshing", refresh());
  co_return true;
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
    case Announcement::Kind::interrupted: return;
  }
  if (inventory() && !refreshing_) tasks_.spawn("refreshing", refresh());
}

// One at a time: what is announced meanwhile is read in another turn, however often it was announced.
Task<> Host::refresh() {
  if (refreshing_) co_return;
  struct Flag {
    bool& flag;
    ~Flag() { flag = false; }
  } const flag{refreshing_ = true};
  while (!stale_.empty()) {
    const mcp::Method method = stale_.extract(stale_.begin()).value();
    auto listing = co_await connection_.list(method);
    if (!listing) {
      log::warning("{} could not be read again: {}", mcp::to_string(method), listing.error().message());
      continue;
    }
    auto next = std::make_shared<Inventory>(*inventory());
    const auto at = static_cast<std::size_t>(std::ranges::find(kListMethods, method) - kListMethods.begin());
    const auto before = next->lists.at(at);
    next->lists.at(at) = std::make_shared<const Listing>(std::move(*listing));
    const Difference changes = difference(*before, *next->lists.at(at));
    publish(std::move(next));
    if (!changes.empty() && on_change_) on_change_(method, changes);
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
