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

// The routes of the admin API as data: what they accept, do and mean. The help is made from them.
namespace proteus::admin {

// An authenticated and routed request. Must be used only on the thread of its exchange.
class AdminRequest {
 public:
  using Variables = std::vector<std::pair<std::string_view, std::string_view>>;

  AdminRequest(net::Exchange& exchange, AdminAuth& auth, AdminAuth::KeyHolder holder, Variables variables)
      : exchange_(exchange), auth_(auth), holder_(std::move(holder)), variables_(std::move(variables)) {}

  net::Exchange& exchange() { return exchange_; }
  // Returns the name of the admin key, or of the person.
  const std::string& who() const { return holder_.name; }
  // Returns the identity provider that vouches for the operator; empty for the holder of a key.
  const std::string& issuer() const { return holder_.issuer; }
  // Registers a long-running answer: `end` is called when the operator's access is withdrawn.
  [[nodiscard]] AdminAuth::KeyLease lease(AdminAuth::KeyLease::End end) {
    return AdminAuth::KeyLease(auth_, holder_, std::move(end));
  }
  // Returns the segment of the path for `{key}`, not decoded.
  std::string variable(std::string_view key) const;

  // Returns the body as JSON, whatever its content type.
  static constexpr std::size_t kMaxBody = std::size_t{1} << 20U;
  static constexpr std::size_t kMaxDepth = 32;
  Result<boost::json::value> body(std::size_t max_depth = kMaxDepth) const;

  // Returns a parameter of the query, not decoded; nothing if it is not given.
  std::optional<std::string_view> parameter(std::string_view name) const;
  // Returns a decoded parameter; nothing if it is not given. Fails if it cannot be decoded.
  Result<std::optional<std::string>> text(std::string_view name) const;
  // Returns a parameter that is a whole number; nothing if it is not given.
  Result<std::optional<std::uint64_t>> number(std::string_view name) const;
  // Returns the number of entries that `limit` requests of a list, or kUsualLimit. Fails if it is 0 or above kMaxLimit.
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
  std::string fields = {};  // complete lines of the response head
  bool sent = false;        // the handler has already answered
};

enum class Effect : std::uint8_t { reads, changes };

struct Parameter {
  std::string_view name;
  std::string_view help;
};

struct Route {
  std::string_view method;
  std::string_view path;         // a segment such as {name} matches any one
  std::string_view answer = {};  // its type, made of answer_types(); empty if no client depends on it
  std::string_view help;
  Effect effect = Effect::reads;
  std::vector<Parameter> parameters = {};  // of the query; others are rejected
  std::function<Task<Result<Answer>>(AdminRequest&)> handle;
};
using Routes = std::vector<Route>;

// Returns the parts of a query, in order, not decoded.
std::vector<std::pair<std::string_view, std::string_view>> split_query(std::string_view query);

}  // namespace proteus::admin
