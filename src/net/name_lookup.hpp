#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
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
// Its destructor waits for what the system is being asked, as that cannot be stopped.
class NameLookup : public std::enable_shared_from_this<NameLookup> {
 public:
  // Called on several threads at once. Must not throw.
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
  struct Asked {
    std::map<std::uint64_t, Notify> waiting;
    bool is_under_way = false;
  };

  bool has_thread();
  void run();
  void forget(const std::string& name, std::uint64_t id);

  const Ask ask_;
  const NameLookupLimits limits_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::map<std::string, Asked> names_;
  std::deque<std::string> queue_;  // of those the ones that are not under way
  std::uint64_t last_id_ = 0;
  std::size_t idle_ = 0;
  bool stopped_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace proteus::net
