#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/waiting.hpp"
#include "net/io/readiness.hpp"
#include "net/io/stream.hpp"

namespace proteus::net {

// Many streams over one, between two processes of ours. Whatever is written to any of them before the thread has its
// next turn goes in one piece: one record of TLS and one system call for all.
//
// Each frame has a head of eight bytes, in network order: the number of a stream (4), a kind (1), a length (3).
//
//   data   so many bytes follow; a number higher than all before opens a stream
//   end    no more will be written; the length is 0
//   reset  the stream is over in both directions; the length is 0
//   room   so many bytes more may be written
//
// At most `kWindow` bytes wait in a stream for somebody to read them, so that one that nobody reads does not hold up
// others. Whoever breaks these rules is cut off.
//
// Belongs to the thread of the stream below. Lives in a shared_ptr, which its streams hold, too.
class Multiplexer : public std::enable_shared_from_this<Multiplexer> {
 public:
  static constexpr std::size_t kHead = 8;
  static constexpr std::size_t kWindow = std::size_t{256} << 10U;
  static constexpr std::size_t kMostInFrame = (std::size_t{16} << 10U) - kHead;  // a record of TLS
  enum class Kind : std::uint8_t { data = 1, end, reset, room };
  using Callback = std::move_only_function<void(ErrorCode)>;

  // Called with each stream that the other side opens; it must not throw.
  using OnOpened = std::move_only_function<void(Stream)>;

  // Where nobody is to be called, this side opens streams and the other one does not.
  explicit Multiplexer(Stream below, OnOpened on_opened = {});
  ~Multiplexer();
  Multiplexer(const Multiplexer&) = delete;
  Multiplexer& operator=(const Multiplexer&) = delete;

  // Reads from now on; once.
  void start() { wait_to_read(); }

  // Takes what has arrived by now, without waiting to be told of it; while it is open.
  void read_now();

  bool is_open() const { return !error_; }
  // Numbers are not used twice.
  bool can_open() const { return is_open() && last_number_ < UINT32_MAX; }
  // Only where it can.
  Stream open();
  // Those that are in use.
  std::size_t streams() const { return channels_.size(); }

  // That were received and nobody has let go of.
  std::size_t bytes_kept() const;

  // All streams fail.
  void close();
  // Until it is not open any more.
  Task<> wait_for_end();

 private:
  class Channel;
  struct Half;

  void wait_to_read();
  void read();
  ErrorCode take_frames();
  ErrorCode take_frame(std::uint32_t number, Kind kind, std::size_t length, std::string_view payload);
  ErrorCode take_data(std::uint32_t number, std::string_view payload);
  void tell_readers();

  void append(std::uint32_t number, Kind kind, std::size_t length);
  bool has_space() const { return out_.size() - sent_ < kMostUnsent; }
  void send_soon();
  void flush();
  void fail(ErrorCode error);

  // More waits nowhere to be sent: who writes waits instead.
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
  std::size_t begin_ = 0;  // of what was received and not taken
  std::size_t end_ = 0;
  std::vector<std::shared_ptr<Half>> readable_;  // while frames are taken
  std::vector<std::shared_ptr<Half>> opened_;    // then, too, by the other side

  std::string out_;
  std::size_t sent_ = 0;
  bool is_sent_soon_ = false;
  std::vector<std::shared_ptr<Half>> writers_;  // that wait for space, in line
};

}  // namespace proteus::net
