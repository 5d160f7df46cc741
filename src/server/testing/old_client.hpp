#pragma once

#include <string>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>

#include "server/testing/test_server.hpp"

namespace proteus::server {

// A client of HTTP+SSE, with its stream and the URL from the first event.
class OldClient {
 public:
  explicit OldClient(std::uint16_t port, std::string fields = {})
      : stream(port, "/sse"), port_(port), fields_(std::move(fields)) {
    stream.send_request("GET", fields_);
    head = stream.read_answer();
    if (head.status == 200) first = stream.read_event().value();
  }

  RawClient::Answer post(std::string_view body) const { return post_as(fields_, body); }
  RawClient::Answer post_as(std::string_view fields, std::string_view body) const {
    RawClient client(port_, first.data);
    return client.request("POST", fields, body);
  }
  boost::json::value next() { return stream.read_event().value().json(); }
  boost::json::value ask(std::string_view body) {
    EXPECT_EQ(post(body).status, 202);
    return next();
  }
  boost::json::value initialize(std::string_view version = "2024-11-05", std::string_view capabilities = "{}") {
    return ask(
        rpc("0", "initialize",
            fmt::format(R"("protocolVersion":"{}","capabilities":{},"clientInfo":{{"name":"old","version":"1"}})",
                        version, capabilities)));
  }

  RawClient stream;
  RawClient::Answer head;
  RawClient::Event first;

 private:
  std::uint16_t port_;
  std::string fields_;
};

}  // namespace proteus::server
