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
  std::size_t names = 256;  // being looked up, or waiting for that
};

// Finds the addresses of names on a few threads, which are started as they are needed: the system's functions block,
// for many seconds where nobody answers for a name, and that must hold up nobody who asks for another. Who asks for a
// name that is being looked up shares the answer. Nothing is kept. Safe to use from any thread; lives in a shared_ptr.
//
// What the system is being asked cannot be stopped. The destructor does not wait for it: such a thread ends by itself
// when it has an answer, and tells nobody.
class NameLookup : public std::enable_shared_from_this<NameLookup> {
 public:
  // Called on several threads at once, and perhaps still running when the lookup is gone: it owns what it uses. Must
  // not throw.
  using Ask = std::function<FoundName(const std::string& name)>;
  // Called once, on a thread of the lookup, which must not be held up. Must not own a Wait.
  using Notify = std::function<void(const FoundName& found)>;

  static FoundName ask_system(const std::string& name);

  explicit NameLookup(Ask ask = ask_system, NameLookupLimits limits = {});
  ~NameLookup();
  NameLookup(const NameLookup&) = delete;
  NameLookup& operator=(const NameLookup&) = delete;

  // Someone who waits for an answer. Once it is gone nobody is notified any more.
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

  // `unreachable` where too many are being looked up.
  Result<Wait> find(std::string name, Notify notify);

 private:
  struct Board;  // what the threads share
  struct Asker;  // one of them

  bool has_thread();
  static void run(const std::shared_ptr<Board>& board, const std::shared_ptr<Asker>& self);
  void forget(const std::string& name, std::uint64_t id);

  const NameLookupLimits limits_;
  const std::shared_ptr<Board> board_;
  std::vector<std::shared_ptr<Asker>> askers_;  // guarded by the board
};

}  // namespace proteus::net
