#include "client/express.hpp"

#include <array>
#include <charconv>
#include <functional>

#include <boost/container/small_vector.hpp>
#include <fmt/format.h>

#include "base/log.hpp"
#include "client/era.hpp"
#include "client/event_stream.hpp"
#include "client/http_caller.hpp"
#include "mcp/errors.hpp"
#include "mcp/headers.hpp"
#include "mcp/jsonrpc.hpp"

namespace proteus::client {
namespace {

std::vector<Header> own_headers() {
  return {{std::string(mcp::header::kProtocolVersion), std::string(mcp::to_string(mcp::kModern))}};
}

bool long_way_may_mend(const Reply& reply) {
  if (reply.status == 401 || reply.status == 403 || contradicts(reply, mcp::Era::modern)) return true;
  if (!reply.message) return false;
  const int code = mcp::read_error(reply.message->message().error).rpc_code();
  return code == mcp::code::kHeaderMismatch || code == mcp::code::kUnsupportedVersion;
}

Error ended_early() { return errors::interrupted("the server ended the stream without an answer"); }

bool may_be_message(const net::SseEvent& event) { return !event.data.empty() && event.type == "message"; }

// What was not asked for has no one to go to.
bool is_answer(const json::Message& message) {
  return message.kind != json::MessageKind::request && message.kind != json::MessageKind::notification;
}

bool lies_in(std::string_view part, std::string_view whole) {
  const std::less_equal<const char*> not_after;
  return not_after(whole.data(), part.data()) && not_after(part.data() + part.size(), whole.data() + whole.size());
}

// Whether that is how we write it.
bool is_id(std::string_view text, std::uint64_t id) {
  std::array<char, 24> digits;
  const auto [end, ignored] = std::to_chars(digits.data(), digits.data() + digits.size(), id);
  return text == std::string_view(digits.data(), end);
}

// Whether it tells of progress, which gives the request more time.
bool take_notification(const json::Message& message, std::uint64_t id, const Express::Request& request, bool answered) {
  if (message.kind != json::MessageKind::notification) return false;
  const bool progress = message.method == mcp::to_string(mcp::Method::progress);
  if (progress && (!request.progress || !is_id(message.body.value("progressToken"), id))) return false;
  if (request.on_notification) request.on_notification(message, answered);
  return progress;
}

}  // namespace

// The text of one request around its members.
struct Express::Composed {
  fmt::basic_memory_buffer<char, 128> head;
  fmt::basic_memory_buffer<char, 256> tail;
  boost::container::small_vector<std::string_view, 12> body;
  boost::container::small_vector<net::Field, 8> fields;
  std::string name;
  std::array<char, 24> id_text;
  std::string_view id;
};

Express::Express(net::HttpClient& http, net::Url url, const Options& options)
    : http_(http),
      url_(std::move(url)),
      connect_timeout_(options.connect_timeout),
      message_bytes_(options.limits.message_bytes),
      prepared_(HttpCaller(http, url_, options).prepare_post(own_headers())),
      meta_head_(fmt::format(R"("_meta":{{"{}":"{}","{}":{},"{}":)", mcp::meta::kProtocolVersion,
                             mcp::to_string(mcp::kModern), mcp::meta::kClientInfo, options.client_info,
                             mcp::meta::kClientCapabilities)),
      log_level_head_(fmt::format(R"(,"{}":")", mcp::meta::kLogLevel)),
      progress_extension_(options.progress_extension),
      background_(options.background) {}

// The request, up to what is sent.
void Express::compose(Composed& text, const Request& request) {
  const auto [id_end, ignored] =
      std::to_chars(text.id_text.data(), text.id_text.data() + text.id_text.size(), ++last_id_);
  text.id = {text.id_text.data(), id_end};
  const std::string_view method = mcp::to_string(request.method);
  const auto add_head = [&](std::string_view piece) { text.head.append(piece); };
  const auto add_tail = [&](std::string_view piece) { text.tail.append(piece); };
  add_head(R"({"jsonrpc":"2.0","id":)");
  add_head(text.id);
  add_head(R"(,"method":")");
  add_head(method);
  add_head(R"(","params":{)");
  if (!request.members.empty()) add_tail(",");
  add_tail(meta_head_);
  add_tail(request.capabilities);
  if (!request.meta.empty()) {
    add_tail(",");
    add_tail(request.meta);
  }
  if (request.log_level) {
    add_tail(log_level_head_);
    add_tail(mcp::to_string(*request.log_level));
    add_tail("\"");
  }
  if (request.progress) {
    add_tail(R"(,"progressToken":)");
    add_tail(text.id);
  }
  add_tail("}}}");
  text.body.push_back({text.head.data(), text.head.size()});
  request.members.for_each([&](std::string_view piece) { text.body.push_back(piece); });
  text.body.push_back({text.tail.data(), text.tail.size()});

  text.fields.push_back({mcp::header::kMethod, method});
  if (!request.name.empty()) {
    text.name = mcp::encode_header_value(request.name);
    text.fields.push_back({mcp::header::kName, text.name});
  }
  for (const auto& [field, value] : request.headers)
    text.fields.push_back({field, value});
}

net::ClientRequest Express::posted(const Composed& text, const Request& request) const {
  return {.url = url_,
          .method = "POST",
          .fields = {text.fields.data(), text.fields.size()},
          .prepared = prepared_,
          .body = {text.body.data(), text.body.size()},
          .deadlines = {.connect = connect_timeout_,
                        .head = request.timeout,
                        .whole = request.timeout,
                        .longest = request.timeout * progress_extension_},
          .abort = request.abort};
}

std::optional<Express::Sent> Express::try_send(const Request& request) {
  if (prepared_.empty()) return std::nullopt;
  Composed text;
  compose(text, request);
  auto response = http_.try_send(posted(text, request));
  if (!response) return std::nullopt;
  return Sent{std::make_shared<net::ClientResponse>(std::move(*response)), last_id_};
}

Result<Express::Sight> Express::look(Sent& sent, const Request& request) const {
  if (!sent.begun) {
    const auto here = sent.response->try_read_head();
    if (!here) return std::unexpected(here.error());
    if (!*here) return Sight{.waits = true};
    sent.begun = true;
  }
  const net::ClientResponse& response = *sent.response;
  if (response.status() != 200) return Sight{};
  const bool events = response.has_content_type("text/event-stream") && response.is_all_here();
  if (!events && !response.has_content_type("application/json")) return Sight{};
  return look_at_body(sent, events, request);
}

Result<Express::Sight> Express::look_at_body(Sent& sent, bool events, const Request& request) const {
  const auto body = sent.response->try_read_all(message_bytes_);
  if (!body) return std::unexpected(naming_limit(body.error(), message_bytes_));
  if (!*body) return Sight{.waits = true};
  if ((sent.is_long = is_for_background((*body)->size(), background_) && !events)) return Sight{};
  std::shared_ptr<const void> owner = std::move(sent.response);
  auto answer = events ? read_whole(**body, owner, sent.id, request)
                       : judge(Received::scan(**body, std::move(owner), limits()), sent.id);
  if (!answer) return std::unexpected(std::move(answer.error()));
  return Sight{.answer = std::move(*answer)};
}

Task<Result<std::optional<Answer>>> Express::send(const Request& request) {
  if (prepared_.empty()) co_return std::nullopt;   // what cannot be sent is said there
  const auto text = std::make_unique<Composed>();  // too large for the frame
  compose(*text, request);
  const std::uint64_t id = last_id_;
  auto response = co_await http_.send(posted(*text, request));
  if (!response) co_return std::unexpected(std::move(response.error()));
  co_return co_await rest({std::make_shared<net::ClientResponse>(std::move(*response)), id, true}, request);
}

Task<Result<std::optional<Answer>>> Express::rest(Sent sent, const Request& request) {
  for (;;) {
    auto seen = look(sent, request);
    if (!seen) co_return std::unexpected(std::move(seen.error()));
    if (seen->answer) co_return std::move(*seen->answer);
    if (!seen->waits) break;
    (void)co_await sent.response->wait();
  }
  if (sent.is_long) co_return co_await read_aside(std::move(sent));
  net::ClientResponse& response = *sent.response;
  if (response.status() == 200 && response.has_content_type("text/event-stream")) {
    co_return co_await read_events(std::move(response), sent.id, request);
  }
  const auto reply = co_await read_refusal(response);
  if (!reply) co_return std::unexpected(reply.error());
  if (long_way_may_mend(*reply)) co_return std::nullopt;
  co_return std::unexpected(reply_error(*reply));
}

Task<Result<std::optional<Answer>>> Express::read_aside(Sent sent) const {
  const auto body = sent.response->try_read_all(message_bytes_);
  if (!body) co_return std::unexpected(naming_limit(body.error(), message_bytes_));
  // The response belongs to this thread.
  std::string bytes(body->value_or(std::string_view()));
  sent.response.reset();
  co_return judge(co_await scan_aside(*background_, std::move(bytes), limits()), sent.id);
}

json::ScanLimits Express::limits() const {
  json::ScanLimits limits;
  limits.bytes = message_bytes_;
  return limits;
}

Task<Result<std::optional<Answer>>> Express::read_events(net::ClientResponse response, std::uint64_t id,
                                                         const Request& request) const {
  EventStream stream(std::move(response), message_bytes_);
  for (;;) {
    const auto event = co_await stream.next();
    if (!event) co_return std::unexpected(event.error());
    if (!*event) co_return std::unexpected(ended_early());
    if (!may_be_message(**event)) continue;
    std::string data((*event)->data);
    auto received = is_for_background(data.size(), background_)
                        ? co_await scan_aside(*background_, std::move(data), limits())
                        : Received::scan(std::move(data), limits());
    if (!received || is_answer(received->message())) co_return judge(std::move(received), id);
    if (take_notification(received->message(), id, request, false)) stream.extend_deadline(request.timeout);
  }
}

Result<Answer> Express::read_whole(std::string_view events, const std::shared_ptr<const void>& owner, std::uint64_t id,
                                   const Request& request) const {
  net::SseReader reader({message_bytes_, message_bytes_});
  reader.feed(events);
  Received received;
  for (;;) {
    const auto event = reader.next();
    if (!event) return std::unexpected(event.error());
    if (!*event) return std::unexpected(ended_early());
    if (!may_be_message(**event)) continue;
    const std::string_view data = (*event)->data;
    const auto kept = lies_in(data, events) ? nullptr : std::make_shared<const std::string>(data);
    const auto scanned = kept ? received.rescan(*kept, kept, limits()) : received.rescan(data, owner, limits());
    if (!scanned) return std::unexpected(scanned.error());
    if (!kept) received.set_on_one_line();
    if (is_answer(received.message())) return judge(std::move(received), id);
    take_notification(received.message(), id, request, true);
  }
}

Result<Answer> Express::judge(Result<Received> received, std::uint64_t id) {
  if (!received) return std::unexpected(std::move(received.error()));
  const json::Message& message = received->message();
  if (message.kind == json::MessageKind::result && is_id(message.id, id)) return received;
  if (message.kind == json::MessageKind::error && (message.id.empty() || is_id(message.id, id))) {
    return std::unexpected(mcp::read_error(message.error));
  }
  return std::unexpected(
      errors::protocol(fmt::format("the server answered with a message that is no answer to the request: {}",
                                   log::printable(received->text(), 80))));
}

}  // namespace proteus::client
