#include "admin/routes/proposal_routes.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include "base/log/log.hpp"
#include "json/text.hpp"

namespace proteus::admin {
namespace {

using boost::json::array;
using boost::json::object;
using boost::json::value;

constexpr std::size_t kLongestPerson = 200;
// Limit of the texts in one list. Proposals beyond it are listed without texts, and are shown one by one.
constexpr std::size_t kMostText = std::size_t{4} << 20U;

value definition(const std::string& kind, const std::string& text) {
  if (text.empty()) return nullptr;
  if (kind == catalog::kInstructions) return value(text);
  auto parsed = json::parse(text);
  return parsed ? std::move(*parsed) : value(nullptr);
}

void add_display_name(object& out, const gateway::UpstreamProposal& one) {
  if (!one.display_name.empty()) out["upstream_display_name"] = one.display_name;
}

// Returns the length of both texts of a proposal.
std::size_t size_of(const catalog::Proposal& proposal) { return proposal.before.size() + proposal.after.size(); }

object summary(const gateway::UpstreamProposal& one) {
  const catalog::Proposal& proposal = *one.posted.proposal;
  array reasons;
  for (const auto& reason : proposal.reasons)
    reasons.emplace_back(reason);
  object out{{"id", one.posted.id},           {"type", "pin"},
             {"upstream", one.upstream},      {"kind", proposal.kind},
             {"name", proposal.name},         {"sha256", proposal.hash},
             {"bytes", size_of(proposal)},    {"change", proposal.before.empty() ? "new" : "changed"},
             {"breaking", proposal.breaking}, {"reasons", std::move(reasons)}};
  add_display_name(out, one);
  return out;
}

object document(const gateway::UpstreamProposal& one) {
  const catalog::Proposal& proposal = *one.posted.proposal;
  object out = summary(one);
  out["diff"] = catalog::readable_diff(proposal.kind, proposal.before, proposal.after);
  out["ratified"] = definition(proposal.kind, proposal.before);
  out["proposed"] = definition(proposal.kind, proposal.after);
  return out;
}

std::string written(const gateway::PinDecisions& pins, const std::optional<std::string>& upstream) {
  array all;
  std::size_t room = kMostText;
  for (const auto& one : pins.proposals()) {
    if (upstream && *upstream != one.upstream) continue;
    const std::size_t size = size_of(*one.posted.proposal);
    const bool fits = size <= room;
    all.push_back(fits ? document(one) : summary(one));
    if (fits) room -= size;
  }
  return boost::json::serialize(object{{"proposals", std::move(all)}});
}

// Compares the texts in the background, because upstreams determine their size.
Task<Result<Answer>> list(gateway::PinDecisions& pins, AdminRequest& request) {
  std::optional<std::string> upstream(request.parameter("upstream"));
  co_return Answer{.body = co_await pins.background().run(
                       [&pins, upstream = std::move(upstream)] { return written(pins, upstream); })};
}

Task<Result<Answer>> show(gateway::PinDecisions& pins, AdminRequest& request) {
  const auto found = pins.find(request.variable("id"));
  if (!found) co_return std::unexpected(errors::not_found("there is no such proposal any more"));
  co_return Answer{
      .body = co_await pins.background().run([one = *found] { return boost::json::serialize(document(one)); })};
}

// Returns who decides: the person in the body, else the name of the key.
Result<std::string> decider(AdminRequest& request) {
  if (request.exchange().request().body().empty()) return request.who();
  const auto body = request.body();
  if (!body) return std::unexpected(body.error());
  const auto* members = body->if_object();
  if (members == nullptr) return std::unexpected(errors::invalid("the body must be an object"));
  for (const auto& member : *members) {
    if (member.key() != "by") return std::unexpected(errors::invalid("the body has only one key, \"by\""));
  }
  const auto* by = members->if_contains("by");
  if (by == nullptr) return request.who();
  if (!by->is_string() || by->get_string().empty() || by->get_string().size() > kLongestPerson) {
    return std::unexpected(errors::invalid(fmt::format("by must be a name of 1 to {} bytes", kLongestPerson)));
  }
  return std::string(by->get_string());
}

Task<Result<Answer>> decide(gateway::PinDecisions& pins, AdminRequest& request, store::Verdict verdict) {
  auto by = decider(request);
  if (!by) co_return std::unexpected(std::move(by.error()));
  const auto decided = co_await pins.decide(request.variable("id"), verdict, *by, request.who());
  if (!decided) co_return std::unexpected(decided.error());
  const catalog::Proposal& proposal = *decided->posted.proposal;
  object out{{"id", decided->posted.id},
             {"status", verdict == store::Verdict::ratified ? "ratified" : "rejected"},
             {"by", *by},
             {"upstream", decided->upstream},
             {"kind", proposal.kind},
             {"name", proposal.name},
             {"sha256", proposal.hash}};
  add_display_name(out, *decided);
  co_return Answer{.body = boost::json::serialize(out)};
}

}  // namespace

Routes proposal_routes(gateway::PinDecisions& pins) {
  return {
      {.method = "GET",
       .path = "/admin/proposals",
       .answer = "{ proposals: Proposal[] }",
       .help = "Shows definitions of pinned upstreams that nobody has ratified, and what they would change.",
       .parameters = {{"upstream", "Only definitions of this upstream."}},
       .handle = [&pins](AdminRequest& request) { return list(pins, request); }},
      {.method = "GET",
       .path = "/admin/proposals/{id}",
       .answer = "Proposal",
       .help = "Shows one of them whole, also where the list leaves its texts out.",
       .handle = [&pins](AdminRequest& request) { return show(pins, request); }},
      {.method = "POST",
       .path = "/admin/proposals/{id}/ratify",
       .help = "Serves exactly what was proposed from now on; the body may name the person who decides: {\"by\": …}.",
       .effect = Effect::changes,
       .handle = [&pins](AdminRequest& request) { return decide(pins, request, store::Verdict::ratified); }},
      {.method = "POST",
       .path = "/admin/proposals/{id}/reject",
       .help =
           "Rejects a proposal: the gateway never proposes this definition again, and still serves the ratified one.",
       .effect = Effect::changes,
       .handle = [&pins](AdminRequest& request) { return decide(pins, request, store::Verdict::rejected); }},
  };
}

}  // namespace proteus::admin
