#pragma once

// For tests that every kind of source has to pass, with real databases.

#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "datasets/mapping/mapping.hpp"
#include "datasets/sources/workup.hpp"
#include "datasets/testing/test_database.hpp"

namespace proteus::datasets::test {

class OnEachSource : public testing::TestWithParam<SourceKind> {
 protected:
  void SetUp() override {
    if (GetParam().name == "PostgreSQL" && !PostgresServer::is_installed())
      GTEST_SKIP() << "PostgreSQL is not installed; scripts/setup.sh test installs it";
    database = GetParam().make();
  }

  std::unique_ptr<Source> open() {
    auto source = open_source(Secret(database->dsn()), "public", Patience{});
    if (!source) throw std::runtime_error(source.error().message());
    return std::move(*source);
  }
  Introspection introspect() { return open()->introspect(Patience{}).value(); }

  const Plan& keep(Mapping mapping, std::string sha256 = "") {
    return *plans.emplace_back(std::make_unique<const Plan>(std::move(mapping), std::move(sha256)));
  }
  Result<Workup> ask(const Plan& plan, WorkupRequest request,
                     std::chrono::milliseconds patience = std::chrono::seconds(30)) {
    return work_up(plan, *open(), request, Patience{.until = std::chrono::steady_clock::now() + patience});
  }

  std::unique_ptr<TestDatabase> database;
  std::vector<std::unique_ptr<const Plan>> plans;  // workups refer to them
};

// Returns the relationships, one on each line.
inline std::string refs(const Workup& workup) {
  std::string all;
  for (const auto& one : workup.relationships)
    all += fmt::format("{}{} {}\n", one.direction == Direction::outgoing ? "> " : "< ", one.type, one.peer->ref);
  return all;
}

inline std::vector<std::string> gaps(const Workup& workup) {
  std::vector<std::string> kinds;
  for (const auto& gap : workup.gaps)
    kinds.emplace_back(to_string(gap.kind));
  return kinds;
}

}  // namespace proteus::datasets::test
