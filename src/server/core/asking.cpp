#include "server/core/asking.hpp"

#include <fmt/format.h>

#include "json/text.hpp"
#include "mcp/errors.hpp"
#include "server/core/older_content.hpp"

namespace proteus::server {
namespace {

// Releases the call's place once the call is answered.
class Place {
 public:
  explicit Place(Call& call) : call_(call) {}
  ~Place() { call_.hold_place(nullptr); }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

 private:
  Call& call_;
};

}  // namespace

mcp::Outcome refusal(const Call& call, const std::string& why) {
  if (call.request().method->method != mcp::Method::tools_call) {
    return std::unexpected(mcp::errors::invalid_request(why));
  }
  mcp::Reply reply;
  reply.members.add(fmt::format(R"("content":[{{"type":"text","text":{}}}],"isError":true)", json::quote(why)));
  reply.is_tool_error = true;
  return reply;
}

Task<mcp::Outcome> handle_asking(Service& service, Call& call, CallChannel& channel, ClientRequests& requests,
                                 AskingLimits limits) {
  const Place place(call);
  try {
    for (;;) {
      mcp::Outcome outcome = co_await service.handle(call);
      if (!outcome) co_return outcome;
      if (auto* const reply = std::get_if<mcp::Reply>(&*outcome)) {
        write_out_newer_content(*reply, call.request());
        co_return outcome;
      }
      const auto* required = std::get_if<mcp::InputRequired>(&*outcome);

      const std::string missing = missing_capabilities(*required, call.client());
      if (!missing.empty()) {
        co_return refusal(call, fmt::format("This needs input that the client cannot be asked for: {}", missing));
      }
      if (++call.rounds().round > limits.rounds) co_return refusal(call, "This asked for input too many times.");
      call.rounds().state = required->state;
      const auto asked = co_await requests.ask(*required, call, channel, limits.deadline);
      if (!asked) {
        if (asked.error().kind() == ErrorKind::cancelled) co_return std::unexpected(asked.error());
        co_return refusal(call, asked.error().message());
      }
    }
  } catch (...) {
    co_return std::unexpected(service.failed(call.request()));
  }
}

}  // namespace proteus::server
