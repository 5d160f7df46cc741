#include "auth/fetch/form.hpp"

#include <gtest/gtest.h>

namespace proteus::auth {
namespace {

TEST(Form, IsReadAsItWasWritten) {
  std::string form;
  append_form(form, "a b", "1&2=3+4 %");
  append_form(form, "empty", "");
  append_form(form, "u", "\xc3\xbc");
  EXPECT_EQ(form, "a%20b=1%262%3D3%2B4%20%25&u=%C3%BC");
  const auto read = read_form(form);
  ASSERT_TRUE(read);
  EXPECT_EQ(find_in(*read, "a b"), "1&2=3+4 %");
  EXPECT_EQ(find_in(*read, "none"), "");
  EXPECT_EQ(find_in(*read_form("x=a+b&&y"), "x"), "a b");
}

TEST(Form, IsBounded) {
  EXPECT_FALSE(read_form("a=1&a=2"));
  EXPECT_FALSE(read_form("a=%4"));
  EXPECT_FALSE(read_form("a=%xy"));
  EXPECT_FALSE(read_form(std::string(kMaxForm + 1, 'a')));
  std::string many;
  for (int i = 0; i < 65; ++i)
    many += std::to_string(i) + "=1&";
  EXPECT_FALSE(read_form(many));
}

}  // namespace
}  // namespace proteus::auth
