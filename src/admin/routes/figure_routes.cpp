#include "admin/routes/figure_routes.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include "base/date_time.hpp"

namespace proteus::admin {
namespace {

using boost::json::array;
using boost::json::object;
using boost::json::value;

Task<Result<Answer>> show(const gateway::Figures& figures, AdminRequest& request) {
  const auto upstream = request.text("upstream");
  if (!upstream) co_return std::unexpected(upstream.error());
  array moments;
  for (const auto& moment : *upstream ? figures.of_upstream(**upstream) : figures.all()) {
    const auto& figure = moment.figure;
    moments.push_back(object{{"at", write_date_time(moment.at)},
                             {"seconds", moment.since_last.count()},
                             {"requests", figure.requests},
                             {"failed", figure.failed},
                             {"mean_ms", figure.mean_ms ? value(*figure.mean_ms) : value(nullptr)}});
  }
  co_return Answer{.body = boost::json::serialize(object{{"upstream", *upstream ? value(**upstream) : value(nullptr)},
                                                         {"moments", std::move(moments)}})};
}

}  // namespace

Routes figure_routes(const gateway::Figures& figures) {
  return {{.method = "GET",
           .path = "/admin/figures",
           .answer = "{ upstream: string | null; moments: Moment[] }",
           .help = "Shows how many requests there were in the last hour, how many failed, and how long they took, in "
                   "steps of about ten seconds.",
           .parameters = {{"upstream", "Only requests to this upstream; without it, all requests of clients."}},
           .handle = [&figures](AdminRequest& request) { return show(figures, request); }}};
}

}  // namespace proteus::admin
