#include "net/http/sse.hpp"

#include <algorithm>
#include <charconv>

#include "base/text/blocks.hpp"

namespace proteus::net {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr std::string_view kLineEnds = "\r\n";

// A longer time would mean never reconnecting, and overflow the clocks it is added to.
constexpr std::chrono::milliseconds kLongestRetry = std::chrono::hours(24);

// More memory than this, which one large event needed, is released before the next.
constexpr std::size_t kKeptCapacity = std::size_t{64} << 10U;

// Longer event types are cut; no caller knows one.
constexpr std::size_t kLongestType = std::size_t{1} << 10U;

std::optional<std::chrono::milliseconds> parse_retry(std::string_view value) {
  using Count = std::chrono::milliseconds::rep;
  Count count = 0;
  if (value.empty() || value.front() == '-') return std::nullopt;
  const auto [end, fault] = std::from_chars(value.data(), value.data() + value.size(), count);
  if (fault != std::errc{} || end != value.data() + value.size()) return std::nullopt;
  return std::min(std::chrono::milliseconds(count), kLongestRetry);
}

bool fits_one_line(std::string_view text) {
  constexpr std::string_view kForbidden("\r\n\0", 3);
  return text.find_first_of(kForbidden) == std::string_view::npos;
}

}  // namespace

std::size_t find_line_end(std::string_view text, std::size_t from) {
  const char* const end = text.data() + text.size();
  const char* const found = blocks::find(
      text.data() + from, end, [](auto byte) { return (byte == '\n') | (byte == '\r'); },
      [](auto a, auto b, auto c, auto d) {
        // Apart from line ends, only tabs and rare control characters are as small.
        const auto least = [](auto one, auto other) { return __builtin_elementwise_min(one, other); };
        return static_cast<blocks::Block>(least(least(a, b), least(c, d)) <= '\r');
      });
  return found == end ? std::string_view::npos : static_cast<std::size_t>(found - text.data());
}

void SseReader::feed(std::string_view chunk) {
  chunk_ = chunk;
  position_ = 0;
}

Result<std::optional<SseEvent>> SseReader::next() {
  if (delivered_) {
    delivered_ = false;
    type_ = data_ = {};
    has_data_ = false;
    kept_type_.clear();
    kept_data_.clear(kKeptCapacity);
  }
  if (auto event = take_whole_event()) return event;
  while (!broken_) {
    const auto line = take_line();
    if (!line) {
      if (!broken_) keep_unfinished();
      break;
    }
    if (!line->empty()) {
      take_field(*line);
    } else if (auto event = dispatch()) {
      return event;
    }
  }
  if (broken_) return std::unexpected(*broken_);
  return std::nullopt;
}

std::optional<SseEvent> SseReader::take_whole_event() {
  constexpr std::string_view kField = "data: ";
  constexpr std::string_view kEnd = "\n\n";
  const bool is_between = !broken_ && !skip_lf_ && !line_begun_ && long_line_ == 0 && type_.empty() && !has_data_ &&
                          !has_new_id_ && !new_retry_;
  const std::string_view rest = chunk_.substr(position_);
  if (!is_between || !rest.starts_with(kField)) return std::nullopt;
  const std::size_t end = find_line_end(rest, kField.size());
  if (end == std::string_view::npos || end > limits_.line_bytes || !rest.substr(end).starts_with(kEnd))
    return std::nullopt;
  const std::string_view data = rest.substr(kField.size(), end - kField.size());
  if (data.size() > limits_.event_bytes) return std::nullopt;
  position_ += end + kEnd.size();
  first_line_ = false;
  data_ = data;
  delivered_ = has_data_ = true;
  return SseEvent{.data = data_, .id = last_id_};
}

std::optional<std::string_view> SseReader::take_line() {
  if (skip_lf_ && position_ < chunk_.size()) {
    skip_lf_ = false;
    if (chunk_[position_] == '\n') ++position_;
  }
  const std::size_t end = find_line_end(chunk_, position_);
  const std::size_t length = std::min(end, chunk_.size()) - position_;
  if (long_line_ + (line_begun_ ? partial_line_.size() : 0) + length > limits_.line_bytes) {
    break_limit("a line of an event stream", limits_.line_bytes);
    return std::nullopt;
  }
  if (long_line_ > 0 && data_.size() + length > limits_.event_bytes) {
    break_limit("an event of an event stream", limits_.event_bytes);
    return std::nullopt;
  }
  if (end == std::string_view::npos) return std::nullopt;

  std::string_view line = chunk_.substr(position_, length);
  position_ = end + 1;
  skip_lf_ = chunk_[end] == '\r';
  if (std::exchange(long_line_, 0) > 0) {
    kept_data_.append(line);
    data_ = kept_data_.view();
    return take_line();
  }
  if (std::exchange(line_begun_, false)) {
    partial_line_.append(line);
    line = partial_line_.view();
  }
  if (first_line_) {
    first_line_ = false;
    if (line.starts_with(kByteOrderMark)) line.remove_prefix(kByteOrderMark.size());
  }
  return line;
}

void SseReader::take_field(std::string_view line) {
  const std::size_t colon = line.find(':');
  const std::string_view name = line.substr(0, colon);
  std::string_view value = colon == std::string_view::npos ? std::string_view() : line.substr(colon + 1);
  if (value.starts_with(' ')) value.remove_prefix(1);

  if (name == "data") {
    take_data(value);
  } else if (name == "event") {
    type_ = value.substr(0, kLongestType);
  } else if (name == "id") {
    if (value.find('\0') == std::string_view::npos) take_id(value);
  } else if (name == "retry") {
    if (const auto time = parse_retry(value)) retry_ = new_retry_ = time;
  }
}

void SseReader::take_id(std::string_view value) {
  new_id_ = value.size() > limits_.id_bytes ? std::string_view() : value;
  has_new_id_ = true;
}

void SseReader::take_data(std::string_view value) {
  if (data_.size() + (has_data_ ? 1 : 0) + value.size() > limits_.event_bytes) {
    return break_limit("an event of an event stream", limits_.event_bytes);
  }
  if (!has_data_) {
    has_data_ = true;
    data_ = value;
    return;
  }
  if (data_.data() != kept_data_.data()) kept_data_.assign(data_);
  kept_data_.append("\n");
  kept_data_.append(value);
  data_ = kept_data_.view();
}

std::optional<SseEvent> SseReader::dispatch() {
  if (std::exchange(has_new_id_, false)) last_id_.swap(new_id_);
  if (!has_data_) {
    type_ = {};
    return std::nullopt;
  }
  delivered_ = true;
  return SseEvent{.type = type_.empty() ? "message" : type_,
                  .data = data_,
                  .id = last_id_,
                  .retry = std::exchange(new_retry_, std::nullopt)};
}

// Copies what an unfinished event needs of the chunk, which will be invalid soon.
void SseReader::keep_unfinished() {
  if (type_.data() != kept_type_.data()) {
    kept_type_ = type_;
    type_ = kept_type_;
  }
  if (data_.data() != kept_data_.data()) {
    kept_data_.assign(data_);
    data_ = kept_data_.view();
  }
  const std::string_view rest = chunk_.substr(position_);
  if (long_line_ > 0) {
    kept_data_.append(rest);
    data_ = kept_data_.view();
    long_line_ += rest.size();
  } else {
    if (!line_begun_) partial_line_.clear(kKeptCapacity);
    partial_line_.append(rest);
    line_begun_ = !partial_line_.empty();
    if (partial_line_.size() > kKeptCapacity) begin_long_data();
  }
  chunk_ = {};
  position_ = 0;
}

// Moves the begun line of a long message to its final place, so that the rest is appended there as it arrives. Copying
// all of it at the line's end would take long.
void SseReader::begin_long_data() {
  constexpr std::string_view kField = "data:";
  std::string_view value = partial_line_.view();
  if (first_line_ && value.starts_with(kByteOrderMark)) value.remove_prefix(kByteOrderMark.size());
  if (!value.starts_with(kField)) return;
  value.remove_prefix(kField.size());
  if (value.starts_with(' ')) value.remove_prefix(1);
  if (data_.size() + (has_data_ ? 1 : 0) + value.size() > limits_.event_bytes)
    return break_limit("an event of an event stream", limits_.event_bytes);
  kept_data_.append(has_data_ ? "\n" : "");
  kept_data_.append(value);
  data_ = kept_data_.view();
  has_data_ = true;
  long_line_ = partial_line_.size();
  partial_line_.clear(kKeptCapacity);
  line_begun_ = first_line_ = false;
}

std::shared_ptr<const void> SseReader::take_memory() {
  if (!delivered_ || data_.size() <= kKeptCapacity || data_.data() != kept_data_.data()) return nullptr;
  return std::make_shared<const GrowingText>(std::exchange(kept_data_, {}));
}

void SseReader::break_limit(std::string_view what, std::size_t limit) { broken_ = errors::too_large(what, limit); }

void write_sse_event(std::string& out, const SseEvent& event) {
  if (!event.type.empty() && event.type != "message" && fits_one_line(event.type))
    out.append("event: ").append(event.type).append("\n");
  if (!event.id.empty() && fits_one_line(event.id)) out.append("id: ").append(event.id).append("\n");
  if (event.retry && event.retry->count() >= 0)
    out.append("retry: ").append(std::to_string(event.retry->count())).append("\n");
  for (std::string_view rest = event.data;;) {
    const std::size_t end = find_line_end(rest);
    out.append("data: ").append(rest.substr(0, end)).append("\n");
    if (end == std::string_view::npos) break;
    rest.remove_prefix(rest.substr(end).starts_with(kLineEnds) ? end + 2 : end + 1);
  }
  out.append("\n");
}

}  // namespace proteus::net
