// Fuzzes the multiplexer with the bytes of a link between processes, in segments of any size. Its streams must carry
// the same bytes as if everything had arrived at once, and buffer no more than their window.
//
// The first bytes of the input determine the sizes of the segments.

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "check.hpp"
#include "net/io/memory_stream.hpp"
#include "net/io/multiplexer.hpp"

namespace {

using namespace proteus;

constexpr std::size_t kCuts = 4;
constexpr std::size_t kCapacity = std::size_t{4} << 20U;

// Whether streams are read after each segment, or only after the last.
enum class Reading : std::uint8_t { at_once, at_the_end };

class Feeding {
 public:
  explicit Feeding(Reading reading) : reading_(reading) {
    std::tie(sender_, below_) = net::memory_streams(io_.get_executor(), kCapacity);
    link_ = std::make_shared<net::Multiplexer>(std::move(below_),
                                               [this](net::Stream one) { seen_.push_back({std::move(one), ""}); });
    link_->start();
  }
  ~Feeding() {
    seen_.clear();
    link_->close();
    settle();
  }
  Feeding(const Feeding&) = delete;
  Feeding& operator=(const Feeding&) = delete;

  void feed(std::string_view bytes) {
    sender_.try_write({&bytes, 1});
    settle();
    if (reading_ == Reading::at_once) read_all();
  }

  // Returns everything observable: the state of the link, and the bytes and state of each stream.
  std::string transcript() {
    read_all();
    std::string all = link_->is_open() ? "open\n" : "cut off\n";
    for (auto& [stream, text] : seen_)
      all += text + (stream.has_news() ? "|ended\n" : "|goes on\n");
    return all;
  }

 private:
  struct Seen {
    net::Stream stream;
    std::string text;
  };

  void settle() {
    io_.restart();
    while (io_.poll() > 0) {
    }
  }

  void read_all() {
    std::array<char, 4096> bytes;
    for (auto& [stream, text] : seen_) {
      std::size_t size = 0;
      std::size_t unread = 0;
      while ((size = stream.try_read(bytes).size) > 0) {
        text.append(bytes.data(), size);
        unread += size;
      }
      fuzz::check(unread <= net::Multiplexer::kWindow, "no more waits than there was room for");
    }
    settle();
  }

  boost::asio::io_context io_{1};
  const Reading reading_;
  net::Stream sender_;
  net::Stream below_;
  std::shared_ptr<net::Multiplexer> link_;
  std::vector<Seen> seen_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < kCuts) return 0;
  const std::string_view cuts = fuzz::as_text(data, kCuts);
  const std::string_view bytes = fuzz::as_text(data + kCuts, size - kCuts);
  Feeding whole(Reading::at_the_end);
  whole.feed(bytes);
  for (const Reading reading : {Reading::at_once, Reading::at_the_end}) {
    Feeding cut(reading);
    std::string_view rest = bytes;
    for (std::size_t turn = 0; !rest.empty(); ++turn) {
      const std::size_t next = std::min<std::size_t>(rest.size(), 1 + static_cast<unsigned char>(cuts[turn % kCuts]));
      cut.feed(rest.substr(0, next));
      rest.remove_prefix(next);
    }
    fuzz::check(cut.transcript() == whole.transcript(), "segments change nothing");
  }
  return 0;
}
