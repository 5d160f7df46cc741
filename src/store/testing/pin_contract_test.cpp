#include <gmock/gmock.h>

#include "store/testing/store_contract.hpp"

namespace proteus::store::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

PinRecord pin(std::string name, std::string hash, Verdict verdict = Verdict::ratified) {
  return {.upstream = "bank",
          .kind = "tools",
          .name = std::move(name),
          .hash = std::move(hash),
          .verdict = verdict,
          .definition = verdict == Verdict::ratified ? R"({"name":"é"})" : "",
          .by = "ada",
          .at = Time(std::chrono::microseconds(1'700'000'000'123'456))};
}

// PIN-01
TEST_P(StoreContract, KeepsDecisionsAboutDefinitionsOneRatifiedOfEachName) {
  EXPECT_THAT(get(store().pins_of("bank")), IsEmpty());
  PinRecord elsewhere = pin("a", "1");
  elsewhere.upstream = "other";
  for (const auto& record : {pin("b", "2"), pin("a", "1"), pin("a", "3", Verdict::rejected), pin("", "4"), elsewhere}) {
    Writes writes;
    writes.emplace_back(PutPin{record});
    get(store().write(std::move(writes)));
  }
  EXPECT_THAT(get(store().pins_of("bank")),
              ElementsAre(pin("", "4"), pin("a", "1"), pin("a", "3", Verdict::rejected), pin("b", "2")));
  Writes writes;
  writes.emplace_back(PutPin{pin("a", "3")});
  get(store().write(std::move(writes)));
  EXPECT_THAT(get(store().pins_of("bank")), ElementsAre(pin("", "4"), pin("a", "3"), pin("b", "2")));
  EXPECT_THAT(get(store().pins_of("other")), ElementsAre(elsewhere));
}

TEST_P(StoreContract, RefusesADecisionByNobody) {
  PinRecord record = pin("a", "1");
  record.by.clear();
  Writes writes;
  writes.emplace_back(PutPin{record});
  EXPECT_FALSE(run(store().write(std::move(writes))));
}

TEST_P(DurableStoreContract, KeepsDecisionsOverARestart) {
  Writes writes;
  writes.emplace_back(PutPin{pin("a", "1")});
  get(store().write(std::move(writes)));
  reopen();
  EXPECT_THAT(get(store().pins_of("bank")), ElementsAre(pin("a", "1")));
}

}  // namespace
}  // namespace proteus::store::test
