#pragma once

#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include "auth/testing/signing_key.hpp"
#include "base/tasks/waiting.hpp"
#include "net/testing/http_test_server.hpp"

// For tests: an identity provider on a loopback port that gives configured answers.
namespace proteus::auth::test {

class FakeIssuer {
 public:
  static constexpr std::string_view kMetadata = "/.well-known/oauth-authorization-server";
  static constexpr std::string_view kKeys = "/keys";
  static constexpr std::string_view kIntrospection = "/introspect";

  struct Reply {
    unsigned status = 200;
    std::string body = {};
    std::string location = {};
    std::vector<std::string> challenges = {};  // one WWW-Authenticate field each
    std::size_t megabytes = 0;                 // of spaces after the body
    bool is_held = false;                      // no answer until the client disconnects
  };

  FakeIssuer() : server_([this](net::Exchange& exchange) { return serve(exchange); }) {
    answer(kMetadata, {.body = boost::json::serialize(metadata())});
  }

  // Returns the issuer's name.
  std::string url() const { return fmt::format("http://127.0.0.1:{}", server_.port()); }
  boost::json::object metadata() const {
    return {{"issuer", url()},
            {"jwks_uri", url() + std::string(kKeys)},
            {"introspection_endpoint", url() + std::string(kIntrospection)}};
  }

  void answer(std::string_view path, Reply reply) {
    const std::scoped_lock lock(mutex_);
    replies_[std::string(path)] = std::move(reply);
  }
  void publish(const std::vector<boost::json::object>& keys) { answer(kKeys, {.body = key_set(keys)}); }

  // `asked` returns how often a path was requested, `last` the Authorization field and the body of its last request.
  std::size_t asked(std::string_view path) const {
    const std::scoped_lock lock(mutex_);
    const auto found = asked_.find(std::string(path));
    return found == asked_.end() ? 0 : found->second.size();
  }
  std::string last(std::string_view path) const {
    const std::scoped_lock lock(mutex_);
    return asked_.at(std::string(path)).back();
  }

 private:
  Reply take(const net::Request& request) {
    const std::scoped_lock lock(mutex_);
    const std::string path(request.path());
    asked_[path].push_back(std::string(request.fields().find("Authorization").value_or("")) + " " +
                           std::string(request.body()));
    const auto found = replies_.find(path);
    return found == replies_.end() ? Reply{.status = 404} : found->second;
  }

  Task<> serve(net::Exchange& exchange) {
    const Reply reply = take(exchange.request());
    if (reply.is_held) {
      Bell gone(exchange.executor());
      exchange.on_disconnect([&] { gone.ring(); });
      co_await gone.wait_quietly();
      co_return;
    }
    std::vector<net::Field> fields;
    if (!reply.location.empty()) fields.push_back({"Location", reply.location});
    for (const std::string& challenge : reply.challenges)
      fields.push_back({"WWW-Authenticate", challenge});
    const net::ResponseHead head = {.status = reply.status, .content_type = "application/json", .fields = fields};
    if (reply.megabytes == 0) {
      co_await exchange.reply(head, reply.body);
      co_return;
    }
    const std::string megabyte(std::size_t{1} << 20U, ' ');
    bool is_there = co_await exchange.begin_stream(head) && co_await exchange.write(reply.body);
    for (std::size_t i = 0; i < reply.megabytes && is_there; ++i)
      is_there = co_await exchange.write(megabyte);
  }

  mutable std::mutex mutex_;
  std::map<std::string, Reply> replies_;
  std::map<std::string, std::vector<std::string>> asked_;
  net::TestServer server_;
};

}  // namespace proteus::auth::test
