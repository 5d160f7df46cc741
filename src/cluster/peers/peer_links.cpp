#include "cluster/peers/peer_links.hpp"

#include <algorithm>
#include <array>
#include <list>
#include <stdexcept>

#include <boost/asio/post.hpp>
#include <fmt/format.h>

#include "base/log.hpp"
#include "net/http_server/response_head.hpp"

namespace proteus::cluster {
namespace {

constexpr unsigned kMisdirected = 421;
constexpr std::chrono::seconds kConnect{2};
// Shorter than the other side keeps a connection that nobody uses.
constexpr std::chrono::seconds kIdle{30};
// A stream says something every fifteen seconds.
constexpr std::chrono::seconds kQuiet{45};
constexpr std::string_view kForwardedFor = "X-Forwarded-For";
constexpr std::string_view kEvents = "text/event-stream";

// What belongs to one connection, what the client of this process adds itself, and what only a peer may say.
bool is_passed_on(std::string_view name) {
  constexpr std::array<std::string_view, 17> kOwn = {
      "Host",           "Connection",      "Keep-Alive", "Proxy-Connection", "Proxy-Authorization",
      "Content-Length", "Upgrade",         "TE",         "Trailer",          "Transfer-Encoding",
      "Expect",         "Origin",          "Forwarded",  "X-Forwarded-Host", "X-Forwarded-Proto",
      kForwardedFor,    PeerPasses::kField};
  return std::ranges::none_of(kOwn, [&](std::string_view own) { return net::same_field_name(own, name); });
}

// What the server of this process says itself about an answer.
bool is_answered(std::string_view name) {
  constexpr std::array<std::string_view, 7> kOwn = {"Connection", "Keep-Alive",        "Content-Length", "Date",
                                                    "Trailer",    "Transfer-Encoding", "Content-Type"};
  return std::ranges::none_of(kOwn, [&](std::string_view own) { return net::same_field_name(own, name); });
}

std::string fields_of(const net::ClientResponse& answer) {
  std::string lines;
  for (const auto& [name, value] : answer.fields()) {
    if (is_answered(name)) net::append_field(lines, name, value);
  }
  return lines;
}

// The rest of an answer, as it comes.
Task<> pump(net::Exchange& exchange, net::ClientResponse& answer) {
  const bool speaks = answer.has_content_type(kEvents);
  for (;;) {
    if (speaks) answer.set_deadline(kQuiet);
    const auto some = co_await answer.read_some();
    // Whoever reads is told that it is not whole.
    if (!some) co_return exchange.close();
    if (some->empty()) break;
    if (!co_await exchange.write(*some)) co_return;
  }
  co_await exchange.end_stream();
}

net::HttpClientOptions client_options(const net::TlsContext& tls) {
  net::HttpClientOptions options;
  options.tls = tls;
  options.max_idle_time = kIdle;
  return options;
}

}  // namespace

PeerLinks::Keys::Keys(std::string_view pepper)
    : passes(SealingKey::derive(pepper, "peer requests")), tls(derive_bytes(pepper, "peer links", 32)) {}

struct PeerLinks::Part {
  Part(boost::asio::io_context& context, const Clock& clock, const net::TlsContext& tls)
      : io(context), http(context, clock, client_options(tls)) {}

  boost::asio::io_context& io;
  net::HttpClient http;
  std::list<Waiting*> waiting;
};

// A request that was passed on, in the list of its thread for as long as it is.
struct PeerLinks::Waiting {
  Waiting(Part& on, const std::string& to) : part(on), peer(to), place(on.waiting.insert(on.waiting.end(), this)) {}
  ~Waiting() { part.waiting.erase(place); }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

  Part& part;
  const std::string& peer;
  // It may be told later than this is there.
  const std::shared_ptr<net::RequestAbort> abort = std::make_shared<net::RequestAbort>();
  unsigned missed = 0;  // how often who was asked was not among those that live, one time after the other
  bool is_gone = false;
  std::list<Waiting*>::iterator place;
};

PeerLinks::PeerLinks(net::Workers& workers, const Clock& clock, Keys keys, std::string self)
    : clock_(clock), passes_(keys.passes, std::move(self)), server_tls_(net::TlsContext::server_with_key(keys.tls)) {
  const net::TlsContext tls = net::TlsContext::client_with_key(keys.tls);
  for (std::size_t i = 0; i < workers.size(); ++i)
    parts_.push_back(std::make_unique<Part>(workers.at(i), clock, tls));
}

PeerLinks::~PeerLinks() = default;

void PeerLinks::set_living(std::set<std::string> names) {
  const auto living = std::make_shared<const std::set<std::string>>(std::move(names));
  for (const auto& part : parts_) {
    boost::asio::post(part->io, [living, part = part.get()] {
      // What is told may leave the list at once.
      std::vector<std::shared_ptr<net::RequestAbort>> ended;
      for (Waiting* const waiting : part->waiting) {
        // One who has begun since may be unknown to what was read before.
        waiting->missed = living->contains(waiting->peer) ? 0 : waiting->missed + 1;
        if (waiting->missed < 2) continue;
        waiting->is_gone = true;
        ended.push_back(waiting->abort);
      }
      for (const auto& abort : ended)
        (*abort)();
    });
  }
}

PeerLinks::Part& PeerLinks::here() {
  for (const auto& part : parts_) {
    if (part->io.get_executor().running_in_this_thread()) return *part;
  }
  throw std::logic_error("a request is passed on by a thread that is none of the workers");
}

Task<Result<PeerLinks::Passed>> PeerLinks::pass_on(net::Exchange& exchange, Peer peer) {
  const net::Request& request = exchange.request();
  const auto url = net::Url::parse(fmt::format("{}{}", peer.url.origin(), request.target()));
  if (!url) co_return std::unexpected(url.error());
  const std::string pass = passes_.mint(peer.name, request.method(), url->target(), clock_.wall());
  std::vector<net::Field> fields;
  fields.reserve(request.fields().size() + 2);
  std::ranges::copy_if(request.fields(), std::back_inserter(fields),
                       [](const net::Field& field) { return is_passed_on(field.name); });
  fields.push_back({PeerPasses::kField, pass});
  fields.push_back({kForwardedFor, request.client()});
  const std::string_view body = request.body();

  Part& part = here();
  Waiting waiting(part, peer.name);
  exchange.on_disconnect([abort = waiting.abort] { (*abort)(); });
  // What only listens ends where this process ends, and is taken up again elsewhere.
  const auto draining = std::make_shared<bool>(false);
  if (request.method() == "GET") {
    exchange.on_drain([abort = waiting.abort, draining] {
      *draining = true;
      (*abort)();
    });
  }

  auto answer = co_await part.http.send({.url = *url,
                                         .method = request.method(),
                                         .fields = fields,
                                         .body = {&body, body.empty() ? 0U : 1U},
                                         .deadlines = {.connect = kConnect, .head = {}, .whole = {}},
                                         .abort = waiting.abort.get()});
  if (!answer) {
    if (*draining) co_return std::unexpected(errors::unreachable("this process of the gateway ends; try again"));
    if (answer.error().kind() == ErrorKind::cancelled && !waiting.is_gone) co_return Passed::answered;
    log::info("{} cannot be asked: {}", peer.name, answer.error().message());
    if (answer.error().kind() == ErrorKind::unreachable) {
      co_return std::unexpected(errors::unreachable(
          "the process of this gateway that has this cannot be reached now; nothing was done, try again"));
    }
    co_return std::unexpected(errors::interrupted(
        "the process of this gateway that has this ended or was cut off; the request may have been carried out"));
  }
  if (answer->status() == kMisdirected) co_return Passed::misdirected;
  const std::string lines = fields_of(*answer);
  const std::string type(answer->fields().find("Content-Type").value_or(""));
  const net::ResponseHead head{.status = answer->status(), .content_type = type, .prepared = lines};
  if (answer->is_all_here() || !net::may_have_body(head.status)) {
    const auto whole = co_await answer->read_all(SIZE_MAX);
    co_await exchange.reply(head, whole ? *whole : std::string_view());
    co_return Passed::answered;
  }
  if (co_await exchange.begin_stream(head)) co_await pump(exchange, *answer);
  co_return Passed::answered;
}

Task<bool> PeerLinks::let_in(net::Exchange& exchange) const {
  const net::Request& request = exchange.request();
  const auto pass = request.fields().find(PeerPasses::kField);
  const auto checked =
      request.fields().count(PeerPasses::kField) == 1
          ? passes_.check(*pass, request.method(), request.target(), clock_.wall())
          : std::unexpected(errors::unauthenticated("this is for other processes of the cluster only"));
  if (checked) co_return true;
  const bool lost = checked.error().kind() == ErrorKind::conflict;
  if (!lost) log::warning("a request at the address for peers is refused: {}", checked.error().message());
  co_await exchange.reply({.status = lost ? kMisdirected : 403U, .content_type = "text/plain"},
                          checked.error().message() + "\n");
  co_return false;
}

}  // namespace proteus::cluster
