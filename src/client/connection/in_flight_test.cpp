#include "client/connection/in_flight.hpp"

#include <map>

#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

namespace proteus::client {
namespace {

using mcp::LogLevel;

class Addressee : public ::testing::Test {
 protected:
  // A request under way that wants notifications, and log messages of `level` and above if given.
  struct Under {
    Under(InFlightTable& table, boost::asio::io_context& io, RequestId id, std::optional<LogLevel> level)
        : deadline(Deadline::never(io.get_executor())), entry(table, {id, deadline, options}) {
      options.on_notification = [](const json::Message&) {};
      options.log_level = level;
    }
    RequestOptions options;
    Deadline deadline;
    InFlightTable::Entry entry;
  };

  RequestId found(Owner owner, mcp::Era era, std::optional<LogLevel> level) const {
    const InFlight* const request = table.addressee(owner, era, level);
    return request == nullptr ? kNoRequest : request->id;
  }

  boost::asio::io_context io;
  InFlightTable table;
};

TEST_F(Addressee, IsNobodyWhereEverybodySharesAConnection) {  // PRO-21
  const Under one(table, io, 1, LogLevel::debug);
  EXPECT_EQ(found(Owner::everybody, mcp::Era::legacy, LogLevel::error), kNoRequest);
  EXPECT_EQ(found(Owner::everybody, mcp::Era::legacy, std::nullopt), kNoRequest);
  EXPECT_EQ(found(Owner::everybody, mcp::Era::modern, std::nullopt), kNoRequest);
}

TEST_F(Addressee, IsTheOneThatAskedAModernServerToLog) {  // PRO-21
  const Under one(table, io, 1, std::nullopt);
  EXPECT_EQ(found(Owner::everybody, mcp::Era::modern, LogLevel::error), kNoRequest);
  const Under two(table, io, 2, LogLevel::warning);
  EXPECT_EQ(found(Owner::everybody, mcp::Era::modern, LogLevel::error), 2);
  EXPECT_EQ(found(Owner::everybody, mcp::Era::modern, LogLevel::info), kNoRequest);
  const Under three(table, io, 3, LogLevel::debug);
  EXPECT_EQ(found(Owner::everybody, mcp::Era::modern, LogLevel::error), kNoRequest);
}

TEST_F(Addressee, IsTheOnlyRequestOfASessionOrOfStrangers) {  // PRO-21
  for (const Owner owner : {Owner::session, Owner::strangers}) {
    EXPECT_EQ(found(owner, mcp::Era::legacy, LogLevel::error), kNoRequest);
    const Under one(table, io, 1, LogLevel::debug);
    EXPECT_EQ(found(owner, mcp::Era::legacy, LogLevel::error), 1);
    EXPECT_EQ(found(owner, mcp::Era::legacy, std::nullopt), 1);
    const Under two(table, io, 2, std::nullopt);
    EXPECT_EQ(found(owner, mcp::Era::legacy, LogLevel::error), kNoRequest);
  }
}

TEST_F(Addressee, IsAnyRequestOfOneCallerThatWantsIt) {  // PRO-21
  const Under one(table, io, 1, std::nullopt);
  const Under two(table, io, 2, LogLevel::warning);
  const Under three(table, io, 3, LogLevel::debug);
  EXPECT_EQ(found(Owner::caller, mcp::Era::legacy, LogLevel::error), 2);
  EXPECT_EQ(found(Owner::caller, mcp::Era::legacy, LogLevel::info), 3);
  EXPECT_EQ(found(Owner::caller, mcp::Era::legacy, std::nullopt), 1);
}

TEST_F(Addressee, OfAQuestionIsTheLatestOfThoseThatWereAskedLeast) {  // PRO-08
  std::map<RequestId, std::size_t> asked;
  const auto next = [&] {
    const InFlight* const request = table.latest_asked([&](RequestId id) { return asked[id]; });
    return request == nullptr ? kNoRequest : request->id;
  };
  Under one(table, io, 1, std::nullopt);
  EXPECT_EQ(next(), kNoRequest) << "nobody can be asked";
  Under two(table, io, 2, std::nullopt);
  const Under three(table, io, 3, std::nullopt);
  one.options.handlers = two.options.handlers = std::make_shared<const Handlers>();
  EXPECT_EQ(next(), 2);
  asked[2] = 1;
  EXPECT_EQ(next(), 1);
  asked[1] = 1;
  EXPECT_EQ(next(), 2);
}

}  // namespace
}  // namespace proteus::client
