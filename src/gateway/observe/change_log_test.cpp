#include "gateway/observe/change_log.hpp"

#include <stdexcept>
#include <utility>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_future.hpp>
#include <gtest/gtest.h>

#include "store/memory_store.hpp"

namespace proteus::gateway {
namespace {

catalog::Publication change_of(const std::string& upstream) {
  catalog::PerKind<catalog::KindChange> kinds;
  kinds[catalog::Kind::tool].added = {"tool"};
  const catalog::Change change{catalog::UpstreamName(upstream), catalog::KindChanges(std::move(kinds))};
  return {.before = nullptr, .after = nullptr, .changes = {change}, .visible = {}};
}

TEST(ChangeLog, GoesOnThoughAListenerFails) {
  boost::asio::io_context io;
  store::MemoryStore store{{}};
  BackgroundThreads threads(1);
  ChangeLog log(io, store, threads);
  std::vector<std::string> heard;
  const auto listening = log.listen([&](const LoggedChange& logged) {
    heard.push_back(logged.change.upstream.value());
    if (heard.size() == 1) throw std::runtime_error("a fault");
  });
  const auto write = [&](const std::string& upstream) {
    log.changed(change_of(upstream), Clock::Wall{});
    auto stopped = boost::asio::co_spawn(io, log.stop(), boost::asio::use_future);
    io.restart();
    io.run();
    stopped.get();
  };
  write("first");
  write("second");
  EXPECT_EQ(heard, (std::vector<std::string>{"first", "second"}));
}

}  // namespace
}  // namespace proteus::gateway
