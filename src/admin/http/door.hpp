#pragma once

#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "admin/http/keys.hpp"
#include "base/published.hpp"

namespace proteus::admin {

// Lets in who has a key, and shows out who stays when that key is taken away. Thread-safe.
class Door {
 public:
  explicit Door(AdminKeys keys) : keys_(std::make_shared<const AdminKeys>(std::move(keys))) {}

  // Ends those who stay with a key that is another one now, or none.
  void set_keys(AdminKeys keys);

  struct Visitor {
    std::string name;     // of the key
    json::Digest digest;  // of its secret
  };
  std::optional<Visitor> admit(std::string_view secret) const;

  // An answer that goes on. Its end is asked for on any thread, perhaps at once and more than once, and not any more
  // when this has ended; it must not call back here.
  class Stay {
   public:
    using End = std::function<void()>;
    Stay(Door& door, Visitor visitor, End end);
    ~Stay();
    Stay(const Stay&) = delete;
    Stay& operator=(const Stay&) = delete;

   private:
    friend class Door;
    Door& door_;
    const Visitor visitor_;
    const End end_;
    std::list<Stay*>::iterator place_;
  };

 private:
  bool knows(const Visitor& visitor) const;

  Published<AdminKeys> keys_;
  std::mutex mutex_;
  std::list<Stay*> stays_;  // guarded by mutex_
};

}  // namespace proteus::admin
