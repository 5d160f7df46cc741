#include "base/secrets/secret.hpp"

#include <ostream>
#include <string>
#include <type_traits>
#include <utility>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace proteus {
namespace {

template <class T>
concept Streamable = requires(std::ostream& out, const T& value) { out << value; };

TEST(Secret, CannotBePrintedOrFormatted) {
  EXPECT_FALSE(Streamable<Secret>);
  EXPECT_FALSE((fmt::is_formattable<Secret>::value));
  EXPECT_FALSE((std::is_convertible_v<Secret, std::string>));
}

TEST(Secret, ComparesByItsText) {
  const Secret secret("hunter2");
  Secret other = secret;
  EXPECT_TRUE(other == secret);
  const Secret moved = std::move(other);
  EXPECT_TRUE(moved == secret);
  EXPECT_TRUE(other.empty());  // NOLINT(bugprone-use-after-move): it promises to be empty
  EXPECT_EQ(moved.reveal(), "hunter2");
  EXPECT_FALSE(secret == Secret("hunter3"));
  EXPECT_FALSE(secret == Secret());
}

TEST(Secret, HeadersAreRecognizedByTheWordsOfTheirName) {
  for (const char* secret :
       {"AUTHORIZATION", "Proxy-Authorization", "cookie", "Set-Cookie", "X-Admin-Secret", "X-Api-Key", "X-Auth-Token",
        "x-apikey", "X_Session", "X-Amz-Security-Token", "X-Hub-Signature", "X-Accesstoken", "X-Accesskey", "X-Token-2",
        "X-Goog-Iap-Jwt-Assertion"}) {
    EXPECT_TRUE(is_secret_header(secret)) << secret;
  }
  for (const char* plain : {"X-Author", "X-Tenant", "Accept", "X-Keyboard", "X-Sessions-Per-Page", "X-Max-Tokens",
                            "X-Tokenizer", "Idempotency-Key", ""}) {
    EXPECT_FALSE(is_secret_header(plain)) << plain;
  }
}

TEST(Secret, LeavesNothingBehindWhenItIsMoved) {
  Secret first(std::string("0123456789"));
  const char* const memory = first.reveal().data();
  const Secret second(std::move(first));
  EXPECT_EQ(second.reveal(), "0123456789");
  EXPECT_EQ(std::string_view(memory, 10), std::string_view("\0\0\0\0\0\0\0\0\0\0", 10));
}

}  // namespace
}  // namespace proteus
