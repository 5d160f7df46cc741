#include "client/connection/in_flight.hpp"

#include <algorithm>
#include <charconv>

#include "json/text.hpp"

namespace proteus::client {
namespace {

std::optional<double> as_double(std::string_view raw) {
  double number = 0;
  const auto [end, fault] = std::from_chars(raw.data(), raw.data() + raw.size(), number);
  if (fault != std::errc{} || end != raw.data() + raw.size()) return std::nullopt;
  return number;
}

}  // namespace

Result<mcp::Progress> read_progress(const json::Message& message) {
  const auto done = as_double(message.body.value("progress"));
  if (!done) return std::unexpected(errors::protocol("progress is no number"));
  mcp::Progress progress;
  progress.progress = *done;
  progress.total = as_double(message.body.value("total"));
  if (auto text = json::decode_string(message.body.value("message"))) progress.message = std::move(*text);
  return progress;
}

Result<LogEntry> read_log(const json::Message& message) {
  const auto level = mcp::parse_log_level(json::plain_string(message.body.value("level")).value_or(""));
  if (!level) return std::unexpected(errors::protocol("a log message has no known level"));
  LogEntry entry;
  entry.level = *level;
  if (auto logger = json::decode_string(message.body.value("logger"))) entry.logger = std::move(*logger);
  entry.data = message.body.value("data");
  return entry;
}

const InFlight* InFlightTable::find(RequestId id) const {
  const auto found = requests_.find(id);
  return found == requests_.end() ? nullptr : &*found;
}

void InFlightTable::expire() const {
  for (const InFlight& request : requests_)
    request.deadline->expire();
}

Result<> InFlightTable::on_progress(const json::Message& message, std::optional<RequestId> token) const {
  const InFlight* const request = token ? find(*token) : nullptr;
  if (request == nullptr || !request->options->wants_progress()) return {};
  const auto progress = request->options->on_progress ? read_progress(message) : mcp::Progress{};
  if (!progress) return std::unexpected(progress.error());
  request->deadline->extend();
  if (request->options->on_progress) request->options->on_progress(*progress);
  return {};
}

void InFlightTable::on_log(const LogEntry& entry, RequestId during) const {
  const InFlight* wanting = find(during);
  if (wanting == nullptr) {
    for (const InFlight& request : requests_) {
      if (!request.options->on_log) continue;
      if (wanting != nullptr) return;
      wanting = &request;
    }
  }
  if (wanting != nullptr && wanting->options->on_log) wanting->options->on_log(entry);
}

const InFlight* InFlightTable::first_asked() const {
  for (const InFlight& request : requests_) {
    if (request.options->has_handlers()) return &request;
  }
  return nullptr;
}

const InFlight* InFlightTable::latest_asked(const std::function<std::size_t(RequestId)>& rank) const {
  const InFlight* found = nullptr;
  for (const InFlight& request : requests_) {
    if (!request.options->has_handlers()) continue;
    if (found == nullptr || rank(request.id) <= rank(found->id)) found = &request;
  }
  return found;
}

bool InFlightTable::any_asked_sent() const {
  return std::ranges::any_of(
      requests_, [](const InFlight& request) { return request.is_sent && request.options->has_handlers(); });
}

const InFlight* InFlightTable::addressee(Owner owner, mcp::Era era, std::optional<mcp::LogLevel> level) const {
  // 2026-07-28, "Logging": a modern server logs only for requests that ask for it.
  const bool modern = era == mcp::Era::modern;
  if (modern ? !level : owner == Owner::everybody) return nullptr;
  std::size_t told = 0;
  std::size_t wanting = 0;
  const InFlight* first_told = nullptr;
  const InFlight* first_wanting = nullptr;
  for (const InFlight& request : requests_) {
    if (!request.options->on_notification) continue;
    if (told++ == 0) first_told = &request;
    const auto& wanted = request.options->log_level;
    if (level && (!wanted || *level < *wanted)) continue;
    if (wanting++ == 0) first_wanting = &request;
  }
  if (modern) return wanting == 1 ? first_wanting : nullptr;
  return owner == Owner::caller ? first_wanting : told == 1 ? first_told : nullptr;
}

bool InFlightTable::on_notification(const json::Message& message, RequestId during,
                                    std::optional<RequestId> token) const {
  const InFlight* request = find(during);
  if (request == nullptr && token) request = find(*token);
  if (request != nullptr && request->options->on_notification) request->options->on_notification(message);
  return request != nullptr;
}

InFlightTable::Hold::Hold(InFlightTable& table, RequestId during) : table_(table) {
  for (const InFlight& request : table_.requests_) {
    if (during != kNoRequest && request.id != during) continue;
    request.deadline->hold();
    held_.push_back(request.id);
  }
}

InFlightTable::Hold::~Hold() {
  for (const RequestId id : held_) {
    if (const InFlight* const request = table_.find(id)) request->deadline->release();
  }
}

}  // namespace proteus::client
