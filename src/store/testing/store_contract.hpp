#pragma once

#include <functional>
#include <memory>
#include <ostream>
#include <string>

#include <gtest/gtest.h>

#include "store/store.hpp"
#include "store/testing/test_support.hpp"

// What every store must do. An implementation proves it by instantiating `StoreContract`, and `DurableStoreContract`
// where it outlives the process; the tests themselves are in store_contract_test.cpp.
namespace proteus::store::test {

// A store under test, and where it keeps its things.
class StoreBed {
 public:
  virtual ~StoreBed() = default;
  virtual Store& store() = 0;
  // The same records as another process sees them, where several can share the store.
  virtual Store& other() { return store(); }
  // Closes the store and opens it again, as a restart does.
  virtual void reopen() {}
};

struct StoreMaker {
  std::string name;
  std::function<std::unique_ptr<StoreBed>(Retention)> make;

  friend void PrintTo(const StoreMaker& maker, std::ostream* out) { *out << maker.name; }  // NOLINT
};

class StoreContract : public testing::TestWithParam<StoreMaker> {
 protected:
  static constexpr Retention kRetention{.changes = 5, .audits = 4, .feed = 20};

  Store& store() { return bed_->store(); }
  Store& other() { return bed_->other(); }
  template <class T>
  T get(Task<Result<T>> task) {
    return runner_.get(std::move(task));
  }
  template <class T>
  Result<T> run(Task<Result<T>> task) {
    return runner_.run(std::move(task));
  }

  Runner runner_;
  std::unique_ptr<StoreBed> bed_ = GetParam().make(kRetention);
};

class DurableStoreContract : public StoreContract {
 protected:
  void reopen() { bed_->reopen(); }
};

inline std::string name_of(const testing::TestParamInfo<StoreMaker>& info) { return info.param.name; }

}  // namespace proteus::store::test
