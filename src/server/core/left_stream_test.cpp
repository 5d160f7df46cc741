#include "server/core/left_stream.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace proteus::server {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Optional;

LeftStream left(std::string requests, std::uint64_t first, std::vector<std::string> messages) {
  LeftStream stream{.request = std::move(requests), .events = {}};
  for (auto& message : messages)
    stream.events.push_back({first++, std::move(message)});
  return stream;
}

constexpr const char* kProgress = R"({"jsonrpc":"2.0","method":"notifications/progress","params":{}})";

// REP-10
TEST(LeftStream, GivesWhatFollowsAnEvent) {
  const auto stream = left("", 3, {"three", "four", "five"});
  EXPECT_THAT(rest_of(stream, 3), Optional(ElementsAre(KeptEvent{4, "four"}, KeptEvent{5, "five"})));
  EXPECT_THAT(rest_of(stream, 2), Optional(testing::SizeIs(3)));
  EXPECT_THAT(rest_of(stream, 5), Optional(IsEmpty()));
}

// REP-10
TEST(LeftStream, GivesNothingWhereEventsAreMissingInBetween) {
  EXPECT_EQ(rest_of(left("", 3, {"three"}), 1), std::nullopt);
  EXPECT_EQ(rest_of(left("", 3, {"three"}), 0), std::nullopt);
}

// An event may have reached the client but not the store.
TEST(LeftStream, TakesAClientThatHasMoreThanTheStore) {
  EXPECT_THAT(rest_of(left("", 1, {"one"}), 7), Optional(IsEmpty()));
  EXPECT_THAT(rest_of(left("1\n", 1, {}), 0), Optional(IsEmpty()));
}

// REP-10
TEST(LeftStream, KnowsWhichRequestsItDoesNotAnswer) {
  EXPECT_THAT(unanswered(left("7", 1, {kProgress})), ElementsAre("7"));
  EXPECT_THAT(unanswered(left("7", 1, {kProgress, R"({"jsonrpc":"2.0","id":7,"result":{}})"})), IsEmpty());
  EXPECT_THAT(unanswered(left("7", 1, {R"({"jsonrpc":"2.0","id":7,"error":{"code":1,"message":"x"}})"})), IsEmpty());
  EXPECT_THAT(unanswered(left("\"a\"\n2\n\"c\"\n", 1, {R"({"jsonrpc":"2.0","id":2,"result":{}})"})),
              ElementsAre("\"a\"", "\"c\""));
  // A request to the client has an id, too, but is no answer.
  EXPECT_THAT(unanswered(left("7", 1, {R"({"jsonrpc":"2.0","id":7,"method":"elicitation/create","params":{}})"})),
              ElementsAre("7"));
  EXPECT_THAT(unanswered(left("", 1, {kProgress})), IsEmpty());
}

// REP-10
TEST(LeftStream, SaysThatARequestMayHaveBeenCarriedOut) {
  const std::string answer = answer_of_ended_process("\"a\"");
  EXPECT_THAT(answer, testing::HasSubstr("\"id\":\"a\""));
  EXPECT_THAT(answer, testing::HasSubstr("nobody knows whether the request was carried out"));
}

}  // namespace
}  // namespace proteus::server
