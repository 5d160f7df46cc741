#include "server/core/listeners.hpp"

#include <gtest/gtest.h>

namespace proteus::server {
namespace {

class CountingListener final : public Listener {
 public:
  std::shared_ptr<const Caller> caller() const override { return caller_; }
  void list_changed(mcp::Method) override { ++changes; }
  void resource_updated(std::string_view) override {}
  void end() override {}

  int changes = 0;

 private:
  const std::shared_ptr<const Caller> caller_ = std::make_shared<const Caller>();
};

// To find out whom a change concerns may take long.
TEST(Listeners, HoldNobodyUpWhileTheyAreSelected) {
  Listeners listeners;
  CountingListener stays;
  CountingListener leaves;
  auto registered = listeners.add(stays);
  auto leaving = listeners.add(leaves);
  listeners.list_changed(mcp::Method::tools_changed, Listeners::Concerns([&](const Caller&) {
                           leaving.reset();
                           return true;
                         }));
  EXPECT_EQ(stays.changes, 1);
  EXPECT_EQ(leaves.changes, 0);
}

}  // namespace
}  // namespace proteus::server
