#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/value.hpp>
#include <proteus/error.hpp>

#include "admin/http/admin_auth.hpp"
#include "net/http_server/exchange.hpp"

// The routes of the admin API are data: what they take, what they do, and what they mean, so that help can be made from
// them.
namespace proteus::admin {

// One request that has been authenticated and routed. Belongs to the thread of its exchange.
class AdminRequest {
 public:
  using Variables = std::vector<std::pair<std::string_view, std::string_view>>;

  AdminRequest(net::Exchange& exchange, AdminAuth& auth, AdminAuth::KeyHolder holder, Variables variables)
      : exchange_(exchange), auth_(auth), holder_(std::move(holder)), variables_(std::move(variables)) {}

  net::Exchange& exchange() { return exchange_; }
  // The name of the admin key.
  const std::string& who() const { return holder_.name; }
  // The identity provider that vouches for them; empty where they have a key.
  const std::string& issuer() const { return holder_.issuer; }
  // For an answer that goes on: `end` is asked for when the key is taken away.
  [[nodiscard]] AdminAuth::KeyLease lease(AdminAuth::KeyLease::End end) {
    return AdminAuth::KeyLease(auth_, holder_, std::move(end));
  }
  // What stands in the path for `{key}`.
  std::string variable(std::string_view key) const;

  // The body as JSON, whatever its content type says.
  static constexpr std::size_t kMaxBody = std::size_t{1} << 20U;
  static constexpr std::size_t kMaxDepth = 32;
  Result<boost::json::value> body(std::size_t max_depth = kMaxDepth) const;

  // A parameter of the query, not decoded; nothing where it is not given.
  std::optional<std::string_view> parameter(std::string_view name) const;
  // The same, decoded. Fails where it cannot be.
  Result<std::optional<std::string>> text(std::string_view name) const;
  // The same as a whole number.
  Result<std::optional<std::uint64_t>> number(std::string_view name) const;
  // How many are wanted of a list: `limit`, within bounds, or the usual number.
  static constexpr std::size_t kUsualLimit = 100;
  static constexpr std::size_t kMaxLimit = 1000;
  Result<std::size_t> limit() const;

 private:
  net::Exchange& exchange_;
  AdminAuth& auth_;
  const AdminAuth::KeyHolder holder_;
  const Variables variables_;
};

struct Answer {
  unsigned status = 200;
  std::string body = {};    // JSON
  std::string fields = {};  // whole lines of the head
  bool sent = false;        // the handler has answered by itself
};

enum class Effect : std::uint8_t { reads, changes };

struct Parameter {
  std::string_view name;
  std::string_view help;
};

struct Route {
  std::string_view method;
  std::string_view path;         // segments such as {name} stand for any one
  std::string_view answer = {};  // its type, made of answer_types(); empty where no client depends on it
  std::string_view help;
  Effect effect = Effect::reads;
  std::vector<Parameter> parameters = {};  // of the query; others are refused
  std::function<Task<Result<Answer>>(AdminRequest&)> handle;
};
using Routes = std::vector<Route>;

// The parts of a query, in order, not decoded.
std::vector<std::pair<std::string_view, std::string_view>> split_query(std::string_view query);

}  // namespace proteus::admin
