#include "server/core/left_stream.hpp"

#include <algorithm>
#include <ranges>

#include "json/message.hpp"
#include "mcp/jsonrpc.hpp"

namespace proteus::server {

std::optional<std::vector<KeptEvent>> rest_of(const LeftStream& left, std::uint64_t after) {
  std::vector<KeptEvent> rest;
  std::ranges::copy_if(left.events, std::back_inserter(rest),
                       [after](const auto& event) { return event.number > after; });
  // The client may have received events that were not copied, so the copy may end before `after`.
  if (!rest.empty() && rest.front().number != after + 1) return std::nullopt;
  return rest;
}

std::vector<std::string> unanswered(const LeftStream& left) {
  std::vector<std::string> open;
  for (const auto line : std::views::split(left.request, '\n')) {
    if (!line.empty()) open.emplace_back(std::string_view(line));
  }
  for (const auto& event : left.events) {
    const auto message = json::scan(event.message);
    if (!message || (message->kind != json::MessageKind::result && message->kind != json::MessageKind::error)) continue;
    std::erase(open, message->id);
  }
  return open;
}

std::string answer_of_ended_process(std::string_view request) {
  return mcp::write_error(
      request,
      errors::interrupted("the process of this gateway that ran this request has ended; nobody knows "
                          "whether the request was carried out"),
      mcp::Era::legacy);
}

}  // namespace proteus::server
