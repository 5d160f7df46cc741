#include "redis/reply.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace proteus::redis {
namespace {

using testing::HasSubstr;

// Reads one reply that has arrived as a whole.
Reply read(std::string_view bytes) {
  ReplyReader reader;
  reader.feed(bytes);
  return reader.next().value().value();
}

TEST(ReplyReader, ReadsEachKind) {
  EXPECT_EQ(read("+OK\r\n").string(), "OK");
  EXPECT_EQ(read("$5\r\na\r\nbc\r\n").string(), "a\r\nbc");
  EXPECT_EQ(read("$0\r\n\r\n").string(), "");
  EXPECT_EQ(read("$-1\r\n").kind, Reply::Kind::nothing);
  EXPECT_EQ(read("*-1\r\n").kind, Reply::Kind::nothing);
  EXPECT_EQ(read(":-42\r\n").number, -42);
  const Reply error = read("-ERR no\r\n");
  EXPECT_TRUE(error.is_error());
  EXPECT_EQ(error.text, "ERR no");
  EXPECT_EQ(error.string(), std::nullopt);
}

TEST(ReplyReader, ReadsListsInLists) {
  const Reply reply = read("*3\r\n*2\r\n$1\r\na\r\n:1\r\n*0\r\n$-1\r\n");
  ASSERT_EQ(reply.elements.size(), 3U);
  EXPECT_EQ(reply.elements[0].elements[0].text, "a");
  EXPECT_EQ(reply.elements[0].elements[1].number, 1);
  EXPECT_TRUE(reply.elements[1].elements.empty());
  EXPECT_EQ(reply.elements[2].kind, Reply::Kind::nothing);
}

TEST(ReplyReader, ReadsWhatComesByteByByte) {
  const std::string_view bytes = "*2\r\n$3\r\nabc\r\n:7\r\n+OK\r\n";
  ReplyReader reader;
  std::vector<Reply> replies;
  for (const char& byte : bytes) {
    reader.feed({&byte, 1});
    while (auto reply = reader.next().value())
      replies.push_back(std::move(*reply));
  }
  ASSERT_EQ(replies.size(), 2U);
  EXPECT_EQ(replies[0].elements[1].number, 7);
  EXPECT_EQ(replies[1].text, "OK");
}

TEST(ReplyReader, ReadsManyOfOnePiece) {
  std::string bytes;
  for (int i = 0; i < 10'000; ++i)
    bytes += ":" + std::to_string(i) + "\r\n";
  ReplyReader reader;
  reader.feed(bytes);
  for (int i = 0; i < 10'000; ++i)
    ASSERT_EQ(reader.next().value().value().number, i);
  EXPECT_EQ(reader.next().value(), std::nullopt);
}

// REP-15
TEST(ReplyReader, RefusesWhatIsNoReply) {
  for (const auto* bytes : {"HTTP/1.1 400 Bad Request\r\n", "%2\r\n", "$x\r\n", "*9223372036854775807\r\n", ":12a\r\n",
                            "*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n:1\r\n"}) {
    ReplyReader reader;
    reader.feed(bytes);
    const auto reply = reader.next();
    ASSERT_FALSE(reply) << bytes;
    EXPECT_EQ(reply.error().kind(), ErrorKind::protocol) << bytes;
    reader.feed("+OK\r\n");
    EXPECT_FALSE(reader.next()) << bytes;
  }
}

// REP-15: a list takes its memory when it is announced, before its elements arrive.
TEST(ReplyReader, RefusesAListThatIsTooLongWhenItIsAnnounced) {
  ReplyReader reader({.bytes = 1'000'000});
  reader.feed("*2000000000\r\n");
  EXPECT_EQ(reader.next().error().kind(), ErrorKind::too_large);
  EXPECT_EQ(reader.next().error().kind(), ErrorKind::too_large);
}

// REP-15
TEST(ReplyReader, RefusesListsThatAreTooLongTogether) {
  ReplyReader reader({.bytes = 100'000});
  reader.feed("*100\r\n");
  Result<std::optional<Reply>> reply;
  for (int i = 0; i < 100 && reply; ++i) {
    reader.feed("*100\r\n");
    for (int j = 0; j < 100; ++j)
      reader.feed(":1\r\n");
    reply = reader.next();
  }
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().kind(), ErrorKind::too_large);
}

// REP-15
TEST(ReplyReader, RefusesATextOrALineThatDoesNotEnd) {
  for (const auto* begin : {"$2000000000\r\n", "+"}) {
    ReplyReader reader({.bytes = 100'000});
    reader.feed(begin);
    std::size_t fed = 0;
    Result<std::optional<Reply>> reply;
    const std::string more(10'000, 'x');
    while ((reply = reader.next())) {
      ASSERT_LT(fed, 200'000U);
      reader.feed(more);
      fed += more.size();
    }
    EXPECT_EQ(reply.error().kind(), ErrorKind::too_large);
  }
}

TEST(ReplyReader, CountsEachReplyAnew) {
  ReplyReader reader({.bytes = 1'000});
  for (int i = 0; i < 100; ++i) {
    reader.feed("$500\r\n" + std::string(500, 'x') + "\r\n");
    ASSERT_EQ(reader.next().value().value().text.size(), 500U);
  }
}

TEST(WriteCommand, WritesWordsWithTheirLengths) {
  std::string bytes;
  write_command(bytes, {"SET", "key", std::string_view("a\r\n\0b", 5)});
  EXPECT_EQ(bytes, std::string_view("*3\r\n$3\r\nSET\r\n$3\r\nkey\r\n$5\r\na\r\n\0b\r\n", 33));
}

}  // namespace
}  // namespace proteus::redis
