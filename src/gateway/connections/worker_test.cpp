#include "gateway/connections/worker.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_future.hpp>
#include <gtest/gtest.h>

namespace proteus::gateway {
namespace {

// A reload may replace the upstreams while a request of another thread goes through them.
TEST(Worker, KeepsTheUpstreamsThatACoroutineIsUsingUntilItSuspends) {
  boost::asio::io_context io;
  const SystemClock clock;
  const catalog::Catalog catalog;
  UpstreamTables tables(std::make_shared<const UpstreamTable>());
  const Published<Access> access(std::make_shared<const Access>(
      Access{std::make_shared<const Principals>(std::vector<PrincipalSettings>{}, Anonymous::served), {}}));
  RefusalLog refusals(clock);
  QuotaTable quotas({}, refusals);
  Worker worker(io, clock, catalog, tables, access, quotas, {}, std::chrono::milliseconds(1));

  const std::weak_ptr<const UpstreamTable> first = tables.get();
  const UpstreamTable& used = worker.upstreams();
  tables.set(std::make_shared<const UpstreamTable>());
  EXPECT_NE(&worker.upstreams(), &used);
  EXPECT_FALSE(first.expired());
  io.poll();
  EXPECT_TRUE(first.expired());

  io.restart();
  auto closed = boost::asio::co_spawn(io, worker.close(), boost::asio::use_future);
  io.run();
  closed.get();
}

}  // namespace
}  // namespace proteus::gateway
