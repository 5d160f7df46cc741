#pragma once

#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include "client/testing/fake_server.hpp"
#include "client/testing/test_support.hpp"

// For tests: a modern server over Streamable HTTP.
namespace proteus::client::test {

class ModernHttp : public ::testing::Test {
 protected:
  // Handlers may be replaced between requests.
  FakeMcp mcp = FakeMcp::modern();
  boost::asio::io_context io;
  FakeServer server{io, [this](const FakeRequest& request) { return mcp(request); }};
};

}  // namespace proteus::client::test
