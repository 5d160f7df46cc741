#pragma once

#include <functional>
#include <memory>
#include <ostream>
#include <string>

#include <gtest/gtest.h>

#include "store/store.hpp"
#include "store/testing/test_support.hpp"

// The contract of every store. An implementation instantiates `StoreContract`, and also `DurableStoreContract` if it
// outlives the process. The tests are in store_contract_test.cpp and the other *_contract_test.cpp files.
namespace proteus::store::test {

// A store under test, with the files or the database that it uses.
class StoreBed {
 public:
  virtual ~StoreBed() = default;
  virtual Store& store() = 0;
  // Returns the store as another process sees it, if several processes can share it.
  virtual Store& other() { return store(); }
  // Closes the store and opens it again, like a restart.
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
