#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/tasks/waiting.hpp"
#include "net/io/readiness.hpp"
#include "net/io/stream.hpp"

namespace proteus::net {

// Many streams over one, between two Proteus processes. Everything that is written to any of them within one turn of
// the thread goes out in one piece: one TLS record and one system call for all.
//
// Each frame has a head of eight bytes, in network order: the number of a stream (4), a kind (1), a length (3).
//
//   data   `length` bytes follow; a number higher than all before opens a stream
//   end    nothing more will be written; the length is 0
//   reset  the stream is over in both directions; the length is 0
//   room   `length` more bytes may be written
//
// At most `kWindow` bytes of a stream wait to be read, so that a stream that nobody reads does not block the others. A
// peer that breaks these rules is cut off.
//
// Belongs to the thread of the stream below. Lives in a shared_ptr, which its streams hold, too.
class Multiplexer : public std::enable_shared_from_this<Multiplexer> {
 public:
  static constexpr std::size_t kHead = 8;
  static constexpr std::size_t kWindow = std::size_t{256} << 10U;
  static constexpr std::size_t kMostInFrame = (std::size_t{16} << 10U) - kHead;  // one TLS record
  enum class Kind : std::uint8_t { data = 1, end, reset, room };
  using Callback = std::move_only_function<void(ErrorCode)>;

  // Called with each stream that the other side opens. Must not throw.
  using OnOpened = std::move_only_function<void(Stream)>;

  // Without `on_opened`, this side opens streams and the other one does not.
  explicit Multiplexer(Stream below, OnOpened on_opened = {});
  ~Multiplexer();
  Multiplexer(const Multiplexer&) = delete;
  Multiplexer& operator=(const Multiplexer&) = delete;

  // Begins to read. Must be called once.
  void start() { wait_to_read(); }

  // Reads what has arrived by now, without waiting for a notification. Requires `is_open`. Must not be called from a
  // callback of one of the streams.
  void read_now();

  bool is_open() const { return !error_; }
  // Whether `open` can be called. Stream numbers are never reused.
  bool can_open() const { return is_open() && last_number_ < UINT32_MAX; }
  // Opens a stream. Requires `can_open`.
  Stream open();
  // Returns the number of open streams.
  std::size_t streams() const { return channels_.size(); }

  // Sends what can be sent without waiting; then all streams fail.
  void close();
  // Returns when the multiplexer is not open any more.
  Task<> wait_for_end();

 private:
  class Channel;
  struct Half;

  void wait_to_read();
  void read();
  void read_some();
  ErrorCode take_frames();
  ErrorCode take_frame(std::uint32_t number, Kind kind, std::size_t length, std::string_view payload);
  ErrorCode take_data(std::uint32_t number, std::string_view payload);
  void tell_readers();

  void append(std::uint32_t number, Kind kind, std::size_t length);
  bool has_space() const { return out_.size() - sent_ < kMostUnsent; }
  void send_soon();
  void flush();
  void fail(ErrorCode error);

  // Limit of the bytes that wait to be sent. Beyond it, writers wait.
  static constexpr std::size_t kMostUnsent = kMostAtOnce;

  Stream below_;
  const Executor executor_;
  Readiness& readiness_;
  OnOpened on_opened_;
  std::unordered_map<std::uint32_t, std::shared_ptr<Half>> channels_;
  std::uint32_t last_number_ = 0;
  ErrorCode error_;
  Bell ended_;

  std::vector<char> in_;
  std::size_t begin_ = 0;  // begin of the received bytes that are not taken yet
  std::size_t end_ = 0;
  std::vector<std::shared_ptr<Half>> readable_;  // streams to notify once the frames are taken
  std::vector<std::shared_ptr<Half>> opened_;    // streams that the other side opened, to hand over then

  std::string out_;
  std::size_t sent_ = 0;
  bool is_sent_soon_ = false;
  std::vector<std::shared_ptr<Half>> writers_;  // streams that wait for space, in order
};

}  // namespace proteus::net
