#include "store/memory_store.hpp"

#include "store/testing/store_contract.hpp"

namespace proteus::store::test {
namespace {

class MemoryBed final : public StoreBed {
 public:
  explicit MemoryBed(Retention retention) : store_(retention) {}
  Store& store() override { return store_; }

 private:
  MemoryStore store_;
};

const StoreMaker kMemory{.name = "Memory",
                         .make = [](Retention retention) { return std::make_unique<MemoryBed>(retention); }};

}  // namespace

INSTANTIATE_TEST_SUITE_P(Memory, StoreContract, testing::Values(kMemory), name_of);

}  // namespace proteus::store::test
