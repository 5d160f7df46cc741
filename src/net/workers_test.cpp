#include "net/workers.hpp"

#include <future>
#include <set>
#include <stdexcept>

#include <boost/asio/post.hpp>
#include <gtest/gtest.h>

namespace proteus::net {
namespace {

std::thread::id thread_of(boost::asio::io_context& context) {
  std::promise<std::thread::id> promise;
  auto future = promise.get_future();
  boost::asio::post(context, [&] { promise.set_value(std::this_thread::get_id()); });
  return future.get();
}

TEST(Workers, RunEachContextOnAThreadOfItsOwn) {
  Workers workers(3);
  workers.run();
  std::set<std::thread::id> ids;
  for (std::size_t i = 0; i < workers.size(); ++i)
    ids.insert(thread_of(workers.at(i)));
  EXPECT_EQ(ids.size(), 3U);
  EXPECT_EQ(thread_of(workers.at(1)), thread_of(workers.at(1)));
}

TEST(Workers, AreTakenInTurn) {
  Workers workers(2);
  auto& first = workers.next();
  auto& second = workers.next();
  EXPECT_NE(&first, &second);
  EXPECT_EQ(&workers.next(), &first);
}

TEST(Workers, SurviveAHandlerThatThrows) {
  Workers workers(1);
  workers.run();
  boost::asio::post(workers.at(0), [] { throw std::runtime_error("on purpose"); });
  EXPECT_NE(thread_of(workers.at(0)), std::thread::id());
  workers.stop();
  workers.join();
}

}  // namespace
}  // namespace proteus::net
