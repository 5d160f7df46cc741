#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/ip/address.hpp>
#include <boost/system/error_code.hpp>
#include <proteus/error.hpp>

namespace proteus::net {

struct FoundName {
  boost::system::error_code error;
  std::vector<boost::asio::ip::address> addresses;
};

struct NameLookupLimits {
  std::size_t threads = 8;
  std::size_t names = 256;  // names that are being looked up or wait for a thread
};

// Looks up the addresses of names on a few threads, which are started as needed. The system's functions block, for many
// seconds if no server answers for a name, and must not delay the lookups of other names. Concurrent requests for the
// same name share one lookup. Results are not cached. Thread-safe; lives in a shared_ptr.
//
// A lookup by the system cannot be stopped. The destructor does not wait for it: its thread ends when the answer
// arrives, and notifies nobody.
class NameLookup : public std::enable_shared_from_this<NameLookup> {
 public:
  // Called on several threads at once, and possibly still running after the NameLookup is destroyed: must own what it
  // uses. Must not throw.
  using Ask = std::function<FoundName(const std::string& name)>;
  // Called at most once, on a lookup thread that holds a lock: must not block, and must not own a Wait.
  using Notify = std::function<void(const FoundName& found)>;

  static FoundName ask_system(const std::string& name);

  explicit NameLookup(Ask ask = ask_system, NameLookupLimits limits = {});
  ~NameLookup();
  NameLookup(const NameLookup&) = delete;
  NameLookup& operator=(const NameLookup&) = delete;

  // A caller's request for a lookup. Its callback is not called after its destruction.
  class Wait {
   public:
    Wait(Wait&&) = default;
    Wait& operator=(Wait&&) = delete;
    ~Wait();

   private:
    friend class NameLookup;
    Wait(std::shared_ptr<NameLookup> names, std::string name, std::uint64_t id)
        : names_(std::move(names)), name_(std::move(name)), id_(id) {}

    std::shared_ptr<NameLookup> names_;
    std::string name_;
    std::uint64_t id_;
  };

  // Looks up a name and passes the result to `notify`. Fails with `unreachable` if too many names are being looked up.
  Result<Wait> find(std::string name, Notify notify);

 private:
  struct Board;  // state that the threads share
  struct Asker;  // a thread

  bool has_thread();
  static void run(const std::shared_ptr<Board>& board, const std::shared_ptr<Asker>& self);
  void forget(const std::string& name, std::uint64_t id);

  const NameLookupLimits limits_;
  const std::shared_ptr<Board> board_;
  std::vector<std::shared_ptr<Asker>> askers_;  // guarded by the mutex of the board
};

}  // namespace proteus::net
