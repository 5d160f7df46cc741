#include "gateway/sign_in/departures.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace proteus::gateway {
namespace {

class DeparturesTest : public ::testing::Test {
 protected:
  void leave(const std::string& who, const std::string& from) {
    Departure departure;
    departure.ticket.id = who;
    departure.browser = who;
    departure.from = from;
    departure.request.state = who;
    departures_.add(std::move(departure));
  }
  bool is_back(const std::string& who) { return departures_.take(who, who).has_value(); }

  ManualClock clock_;
  Departures departures_{clock_};
};

// UPC-06
TEST_F(DeparturesTest, ManyFromOneNetworkKeepNobodyElseFromLeaving) {
  leave("ada", "here");
  for (std::size_t i = 0; i < 2 * Departures::kMost; ++i)
    leave(fmt::format("guest {}", i), "there");
  EXPECT_EQ(departures_.size(), Departures::kMost);
  leave("bo", "elsewhere");
  EXPECT_TRUE(is_back("ada"));
  EXPECT_TRUE(is_back("bo"));
  EXPECT_FALSE(is_back("guest 0"));
  EXPECT_TRUE(is_back(fmt::format("guest {}", 2 * Departures::kMost - 1)));
}

TEST_F(DeparturesTest, WhoIsBackTakesNoPlace) {
  leave("ada", "here");
  for (std::size_t i = 0; i < 2 * Departures::kMost; ++i) {
    leave("guest", "there");
    EXPECT_TRUE(is_back("guest"));
  }
  EXPECT_EQ(departures_.size(), 1U);
  clock_.advance(Departures::kLifetime);
  EXPECT_FALSE(is_back("ada"));
  EXPECT_EQ(departures_.size(), 0U);
}

}  // namespace
}  // namespace proteus::gateway
