#include "admin/routes/record_routes.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include "base/date_time.hpp"

namespace proteus::admin {
namespace {

using boost::json::array;
using boost::json::object;

std::string write(const gateway::Records& records, const std::optional<std::string>& upstream, std::size_t limit) {
  array all;
  for (const auto& one : records.newest(upstream, limit)) {
    all.push_back(object{{"number", one.number},
                         {"at", write_date_time(one.at)},
                         {"upstream", one.upstream},
                         {"principal", one.principal},
                         {"context", one.context},
                         {"method", mcp::to_string(one.method)},
                         {"name", one.name},
                         {"outcome", to_string(one.outcome)},
                         {"duration_ms", std::chrono::duration<double, std::milli>(one.took).count()}});
  }
  return boost::json::serialize(object{{"kept", "memory"}, {"records", std::move(all)}});
}

Task<Result<Answer>> page(const gateway::Records* records, BackgroundThreads& threads, AdminRequest& request) {
  const auto limit = request.limit();
  if (!limit) co_return std::unexpected(limit.error());
  auto upstream = request.text("upstream");
  if (!upstream) co_return std::unexpected(std::move(upstream.error()));
  if (records == nullptr) co_return Answer{.body = R"({"kept":"off","records":[]})"};
  co_return Answer{.body = co_await threads.run([records, upstream = std::move(*upstream), limit = *limit] {
    return write(*records, upstream, limit);
  })};
}

}  // namespace

Routes record_routes(const gateway::Records* records, BackgroundThreads& threads) {
  return {
      {.method = "GET",
       .path = "/admin/records",
       .answer = "CallRecords",
       .help = "Shows the last calls that went to upstreams, the newest first, where [telemetry] records keeps them.",
       .parameters = {{"upstream", "Only calls of this upstream."}, {"limit", "Maximum number to return, up to 1000."}},
       .handle = [records, &threads](AdminRequest& request) { return page(records, threads, request); }}};
}

}  // namespace proteus::admin
