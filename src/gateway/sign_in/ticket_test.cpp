#include "gateway/sign_in/ticket.hpp"

#include <gtest/gtest.h>

namespace proteus::gateway {
namespace {

class TicketsTest : public ::testing::Test {
 protected:
  Tickets::Issued issue(const std::string& user, std::vector<std::string> scopes = {}) {
    return *tickets_.issue({.person = {Person::Kind::user, user, "https://id.example"},
                            .person_name = "Ada",
                            .upstream = "notes",
                            .scopes = std::move(scopes),
                            .challenge = "Bearer",
                            .client = "agent"});
  }

  ManualClock clock_;
  const SealingKey key_ = SealingKey::random();
  Tickets tickets_{key_, clock_};
};

// UPC-06
TEST_F(TicketsTest, SayWhatTheyStandForAndAreUsedOnce) {
  const auto issued = issue("ada", {"write"});
  const auto read = tickets_.read(issued.text);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->id, issued.ticket.id);
  EXPECT_EQ(read->person, (Person{Person::Kind::user, "ada", "https://id.example"}));
  EXPECT_EQ(read->upstream, "notes");
  EXPECT_EQ(read->scopes, std::vector<std::string>{"write"});
  EXPECT_EQ(read->challenge, "Bearer");
  EXPECT_EQ(read->client, "agent");
  EXPECT_TRUE(tickets_.use(*read));
  EXPECT_FALSE(tickets_.use(*read));
  EXPECT_FALSE(tickets_.read(issued.text));
}

TEST_F(TicketsTest, LiveTenMinutes) {
  const auto issued = issue("ada");
  clock_.advance(std::chrono::minutes(10) - std::chrono::seconds(2));
  EXPECT_TRUE(tickets_.read(issued.text));
  clock_.advance(std::chrono::seconds(2));
  EXPECT_FALSE(tickets_.read(issued.text));
  EXPECT_FALSE(tickets_.use(issued.ticket));
}

// UPC-06: single use does not depend on a clock.
TEST(Tickets, ThatWereUsedAreNoneAgainWhenTheClockIsSetBack) {
  // A wall clock that the test sets.
  class SetClock final : public Clock {
   public:
    Monotonic now() const override { return {}; }
    Wall wall() const override { return time; }
    Wall time{std::chrono::hours(1)};
  };
  SetClock clock;
  Tickets tickets(SealingKey::random(), clock);
  const auto issue_for = [&](const std::string& user) {
    return tickets.issue({.person = {Person::Kind::user, user}, .upstream = "notes"}).value();
  };
  const auto used = issue_for("ada");
  EXPECT_TRUE(tickets.use(used.ticket));
  clock.time += std::chrono::minutes(11);
  issue_for("bo");
  clock.time -= std::chrono::minutes(12);
  EXPECT_FALSE(tickets.read(used.text));
  EXPECT_FALSE(tickets.use(used.ticket));
}

TEST_F(TicketsTest, OneIsOpenForEachPersonAndUpstream) {
  const auto first = issue("ada");
  EXPECT_EQ(issue("ada").text, first.text);
  EXPECT_NE(issue("bo").text, first.text);
  EXPECT_EQ(tickets_.open(), 2U);
  const auto wider = issue("ada", {"write"});
  EXPECT_NE(wider.text, first.text);
  EXPECT_FALSE(tickets_.read(first.text));
  EXPECT_TRUE(tickets_.read(wider.text));
  EXPECT_EQ(tickets_.open(), 2U);
  clock_.advance(Tickets::kLifetime);
  EXPECT_NE(issue("ada").text, wider.text);
  EXPECT_EQ(tickets_.open(), 1U);
}

// What a later question asks for has not happened yet, whatever an earlier sign-in brought.
TEST_F(TicketsTest, AnotherOneIsIssuedAfterASignIn) {
  const Ticket asked{.person = {Person::Kind::user, "ada"}, .upstream = "notes"};
  Ticket again = asked;
  again.connected_at = Clock::Wall(std::chrono::hours(1));
  const auto first = tickets_.issue(asked).value();
  EXPECT_EQ(tickets_.issue(asked)->text, first.text);
  EXPECT_NE(tickets_.issue(again)->text, first.text);
  EXPECT_FALSE(tickets_.read(first.text));
}

TEST_F(TicketsTest, OutliveTheProcessAndNothingElse) {
  const auto issued = issue("ada");
  Tickets after(key_, clock_);
  EXPECT_TRUE(after.read(issued.text));
  EXPECT_TRUE(after.use(issued.ticket));
  EXPECT_FALSE(after.read(issued.text));
  Tickets stranger(SealingKey::random(), clock_);
  EXPECT_FALSE(stranger.read(issued.text));
  std::string altered = issued.text;
  altered[altered.size() / 2] = altered[altered.size() / 2] == 'A' ? 'B' : 'A';
  EXPECT_FALSE(tickets_.read(altered));
  EXPECT_FALSE(tickets_.read(""));
  EXPECT_FALSE(tickets_.read(std::string(100'000, 'A')));
}

TEST_F(TicketsTest, AreBounded) {
  for (std::size_t i = 0; i < Tickets::kMostOfOne; ++i) {
    EXPECT_TRUE(tickets_.issue({.person = {Person::Kind::user, "ada"}, .upstream = std::to_string(i)}));
  }
  const auto more = tickets_.issue({.person = {Person::Kind::user, "ada"}, .upstream = "one more"});
  ASSERT_FALSE(more);
  EXPECT_EQ(more.error().kind(), ErrorKind::exhausted);
  EXPECT_TRUE(tickets_.issue({.person = {Person::Kind::user, "bo"}, .upstream = "notes"}));
}

}  // namespace
}  // namespace proteus::gateway
