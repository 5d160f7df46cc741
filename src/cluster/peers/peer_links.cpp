#include "cluster/peers/peer_links.hpp"

#include <boost/asio/post.hpp>
#include <fmt/format.h>

#include "base/log/log.hpp"
#include "net/http_server/response_head.hpp"

namespace proteus::cluster {
namespace {

constexpr unsigned kMisdirected = 421;
constexpr std::chrono::seconds kConnect{2};
// Shorter than the time for which the other side keeps an idle connection.
constexpr std::chrono::seconds kIdle{30};
// An event stream sends something every fifteen seconds.
constexpr std::chrono::seconds kQuiet{45};
// How long a pass that was sealed or opened is reused, and how many are kept.
constexpr std::chrono::seconds kSealedAgain{1};
constexpr std::size_t kMostKept = 32;
constexpr std::string_view kForwardedFor = "X-Forwarded-For";
constexpr std::string_view kEvents = "text/event-stream";

// Whether a field of a request is forwarded. Not forwarded are fields of one connection, fields that this process's
// HTTP client adds itself, and fields that only a peer may set.
bool is_passed_on(std::string_view name) {
  const auto is = [name](std::string_view own) { return net::same_field_name(own, name); };
  switch (name.size()) {
    case 2: return !is("TE");
    case 4: return !is("Host");
    case 6: return !is("Expect") && !is("Origin");
    case 7: return !is("Upgrade") && !is("Trailer");
    case 9: return !is("Forwarded");
    case 10: return !is("Connection") && !is("Keep-Alive");
    case 12: return !is(PeerPasses::kField);
    case 14: return !is("Content-Length");
    case 15: return !is(kForwardedFor);
    case 16: return !is("Proxy-Connection") && !is("X-Forwarded-Host");
    case 17: return !is("Transfer-Encoding") && !is("X-Forwarded-Proto");
    case 19: return !is("Proxy-Authorization");
    default: return true;
  }
}

void append_line(std::string& out, std::string_view name, std::string_view value) {
  out.append(name).append(": ").append(value).append("\r\n");
}

// Returns the header lines to forward. Our own parser has accepted them.
std::string lines_of(const net::Request& request) {
  std::string lines;
  lines.reserve(960);  // a size that the allocator serves quickly
  bool has_agent = false;
  bool has_coding = false;
  for (const auto& [name, value] : request.fields()) {
    if (!is_passed_on(name)) continue;
    append_line(lines, name, value);
    has_agent = has_agent || net::same_field_name(name, "User-Agent");
    has_coding = has_coding || net::same_field_name(name, "Accept-Encoding");
  }
  if (!has_agent) append_line(lines, "User-Agent", "proteus");
  if (!has_coding) append_line(lines, "Accept-Encoding", "identity");
  append_line(lines, kForwardedFor, request.client());
  return lines;
}

// Whether a field of an answer is passed on. Not passed on are fields that this process's server sets itself.
bool is_answered(std::string_view name) {
  const auto is = [name](std::string_view own) { return net::same_field_name(own, name); };
  switch (name.size()) {
    case 4: return !is("Date");
    case 7: return !is("Trailer");
    case 10: return !is("Connection") && !is("Keep-Alive");
    case 12: return !is("Content-Type");
    case 14: return !is("Content-Length");
    case 17: return !is("Transfer-Encoding");
    default: return true;
  }
}

std::string fields_of(const net::ClientResponse& answer) {
  std::string lines;
  for (const auto& [name, value] : answer.fields()) {
    if (is_answered(name)) net::append_field(lines, name, value);
  }
  return lines;
}

// A forwarded GET request. Its stream ends when this process drains, and its client resumes it elsewhere. It does not
// end before it has begun, because that would be a failure.
struct Listening {
  bool begun = false;
  bool ends = false;
};

// Passes on the rest of an answer as it arrives. `listening` is null for requests other than GET.
Task<> pump(net::Exchange& exchange, net::ClientResponse& answer, const Listening* listening) {
  const bool speaks = answer.has_content_type(kEvents);
  for (;;) {
    if (speaks) answer.set_deadline(kQuiet);
    const auto some = co_await answer.read_some();
    // The client must see that the answer is incomplete.
    if (!some && (listening == nullptr || !listening->ends)) co_return exchange.close();
    if (!some || some->empty()) break;
    if (!co_await exchange.write(*some)) co_return;
  }
  co_await exchange.end_stream();
}

net::HttpClientOptions client_options(const net::TlsContext& tls) {
  net::HttpClientOptions options;
  options.tls = tls;
  options.max_idle_time = kIdle;
  options.is_multiplexed = true;
  return options;
}

}  // namespace

PeerLinks::Keys::Keys(std::string_view pepper)
    : passes(SealingKey::derive(pepper, "peer requests")), tls(derive_bytes(pepper, "peer links", 32)) {}

// What requests with the same peer, method and target share. Made once, and reused for a second.
struct PeerLinks::Way {
  std::string peer;
  std::string method;
  std::string target;
  net::Url url;
  std::string line;  // header line with the pass
  Clock::Monotonic until;
};

// A pass that was valid a moment ago.
struct PeerLinks::Known {
  std::string pass;
  std::string method;
  std::string target;
  Clock::Monotonic until;
};

struct PeerLinks::Part {
  Part(boost::asio::io_context& context, const Clock& clock, const net::TlsContext& tls)
      : io(context), http(context, clock, client_options(tls)) {}

  boost::asio::io_context& io;
  net::HttpClient http;
  std::vector<Waiting*> waiting;
  std::vector<std::shared_ptr<const Way>> ways;
  std::vector<Known> known;
  std::size_t next_way = 0;
  std::size_t next_known = 0;
};

// A forwarded request, which is in the list of its thread while it lives.
struct PeerLinks::Waiting {
  Waiting(Part& on, const std::string& to) : part(on), peer(to), place(on.waiting.size()) {
    part.waiting.push_back(this);
  }
  ~Waiting() {
    // The last entry takes its place.
    part.waiting[place] = part.waiting.back();
    part.waiting[place]->place = place;
    part.waiting.pop_back();
  }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

  Part& part;
  const std::string& peer;
  // Shared, because it may be called after this object is destroyed.
  const std::shared_ptr<net::RequestAbort> abort = std::make_shared<net::RequestAbort>();
  unsigned missed = 0;  // how often in a row the peer was not among the live processes
  bool is_gone = false;
  std::size_t place;
};

PeerLinks::PeerLinks(net::Workers& workers, const Clock& clock, Keys keys, std::string self)
    : workers_(workers),
      clock_(clock),
      passes_(keys.passes, std::move(self)),
      server_tls_(net::TlsContext::server_with_key(keys.tls)) {
  const net::TlsContext tls = net::TlsContext::client_with_key(keys.tls);
  for (std::size_t i = 0; i < workers.size(); ++i)
    parts_.push_back(std::make_unique<Part>(workers.at(i), clock, tls));
}

PeerLinks::~PeerLinks() = default;

void PeerLinks::set_living(std::set<std::string> names) {
  const auto living = std::make_shared<const std::set<std::string>>(std::move(names));
  for (const auto& part : parts_) {
    boost::asio::post(part->io, [living, part = part.get()] {
      // An aborted request may leave the list at once.
      std::vector<std::shared_ptr<net::RequestAbort>> ended;
      for (Waiting* const waiting : part->waiting) {
        // A process that has just started may be missing in what was read before.
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

PeerLinks::Part& PeerLinks::here() { return *parts_[workers_.here()]; }

Task<Result<PeerLinks::Passed>> PeerLinks::pass_on(net::Exchange& exchange, PeerPointer peer) {
  const net::Request& request = exchange.request();
  Part& part = here();
  auto way = way_to(part, *peer, request);
  if (!way) co_return std::unexpected(way.error());
  const std::string lines = lines_of(request);
  const std::string_view body = request.body();

  Waiting waiting(part, peer->name);
  exchange.on_disconnect([abort = waiting.abort] { (*abort)(); });
  std::shared_ptr<Listening> listening;
  if (request.method() == "GET") {
    listening = std::make_shared<Listening>();
    exchange.on_drain([abort = waiting.abort, listening] {
      listening->ends = true;
      if (listening->begun) (*abort)();
    });
  }

  const net::ClientRequest asked{.url = (*way)->url,
                                 .method = request.method(),
                                 .prepared = lines,
                                 .more_prepared = (*way)->line,
                                 .body = {&body, body.empty() ? 0U : 1U},
                                 .deadlines = {.connect = kConnect, .head = {}, .whole = {}},
                                 .abort = waiting.abort.get()};
  auto answer = part.http.try_send(asked);
  std::optional<Error> failed;
  if (answer) {
    Result<bool> has_begun = false;
    while (has_begun && !*has_begun) {
      co_await answer->wait();
      has_begun = answer->try_read_head();
    }
    if (!has_begun) failed = has_begun.error();
  } else {
    auto sent = co_await part.http.send(asked);
    if (sent) {
      answer = std::move(*sent);
    } else {
      failed = sent.error();
    }
  }
  if (failed) {
    if (failed->kind() == ErrorKind::cancelled && !waiting.is_gone) co_return Passed::answered;
    log::info("{} cannot be asked: {}", peer->name, failed->message());
    if (failed->kind() == ErrorKind::unreachable) {
      co_return std::unexpected(errors::unreachable(
          "the process of this gateway that has this cannot be reached now; nothing was done, try again"));
    }
    co_return std::unexpected(errors::interrupted(
        "the process of this gateway that has this ended or was cut off; the request may have been carried out"));
  }
  if (answer->status() == kMisdirected) co_return Passed::misdirected;
  const std::string answered = fields_of(*answer);
  const std::string_view type = answer->fields().find("Content-Type").value_or("");
  const net::ResponseHead head{.status = answer->status(), .content_type = type, .prepared = answered};
  if (answer->is_all_here() || !net::may_have_body(head.status)) {
    const auto whole = answer->try_read_all(SIZE_MAX);
    const std::string_view text = whole ? whole->value_or("") : "";
    if (!exchange.try_reply(head, {&text, 1})) co_await exchange.finish_reply();
    co_return Passed::answered;
  }
  if (!co_await exchange.begin_stream(head)) co_return Passed::answered;
  if (listening) listening->begun = true;
  if (listening && listening->ends) {
    co_await exchange.end_stream();
  } else {
    co_await pump(exchange, *answer, listening.get());
  }
  co_return Passed::answered;
}

Result<std::shared_ptr<const PeerLinks::Way>> PeerLinks::way_to(Part& part, const Peer& peer,
                                                                const net::Request& request) const {
  const auto now = clock_.recent();
  for (const auto& way : part.ways) {
    if (way->until > now && way->target == request.target() && way->method == request.method() &&
        way->peer == peer.name)
      return way;
  }
  auto url = net::Url::parse(fmt::format("{}{}", peer.url.origin(), request.target()));
  if (!url) return std::unexpected(url.error());
  Way way{.peer = peer.name,
          .method = std::string(request.method()),
          .target = std::string(request.target()),
          .url = std::move(*url),
          .line = {},
          .until = now + kSealedAgain};
  append_line(way.line, PeerPasses::kField, passes_.mint(peer.name, way.method, way.url.target(), clock_.wall()));
  auto made = std::make_shared<const Way>(std::move(way));
  if (part.ways.size() < kMostKept) {
    part.ways.push_back(made);
  } else {
    part.ways[part.next_way++ % kMostKept] = made;
  }
  return made;
}

Result<> PeerLinks::check(const net::Request& request) {
  if (request.fields().count(PeerPasses::kField) != 1)
    return std::unexpected(errors::unauthenticated("this is for other processes of the cluster only"));
  const std::string_view pass = *request.fields().find(PeerPasses::kField);
  Part& part = here();
  const auto now = clock_.recent();
  for (const auto& known : part.known) {
    if (known.until > now && known.pass == pass && known.method == request.method() && known.target == request.target())
      return {};
  }
  const auto checked = passes_.check(pass, request.method(), request.target(), clock_.wall());
  if (!checked) return std::unexpected(checked.error());
  Known known{.pass = std::string(pass),
              .method = std::string(request.method()),
              .target = std::string(request.target()),
              .until = now + kSealedAgain};
  if (part.known.size() < kMostKept) {
    part.known.push_back(std::move(known));
  } else {
    part.known[part.next_known++ % kMostKept] = std::move(known);
  }
  return {};
}

Task<> PeerLinks::refuse(net::Exchange& exchange, Error why) {
  const bool lost = why.kind() == ErrorKind::conflict;
  if (!lost) log::warning("a request at the address for peers is refused: {}", why.message());
  co_await exchange.reply({.status = lost ? kMisdirected : 403U, .content_type = "text/plain"}, why.message() + "\n");
}

}  // namespace proteus::cluster
