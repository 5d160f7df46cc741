#include "json/schema/pattern.hpp"

#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace proteus::json::schema {
namespace {

bool matches(std::string_view pattern, std::string_view text) {
  const auto compiled = Pattern::compile(pattern);
  if (!compiled) {
    ADD_FAILURE() << pattern << ": " << compiled.error().message();
    return false;
  }
  return (*compiled)->matches(text);
}

Error refusal(std::string_view pattern) {
  const auto compiled = Pattern::compile(pattern);
  if (compiled) {
    ADD_FAILURE() << pattern << " was taken";
    return errors::internal("");
  }
  return compiled.error();
}

TEST(Pattern, IsNotAnchored) {
  EXPECT_TRUE(matches("b+", "abbc"));
  EXPECT_FALSE(matches("^b+$", "abbc"));
  EXPECT_FALSE(matches("^abc$", "abc\n"));
}

TEST(Pattern, KnowsUnicodePropertiesByTheirLongNames) {
  EXPECT_TRUE(matches(R"(^\p{Letter}+$)", "Grüße"));
  EXPECT_TRUE(matches(R"(^\p{Uppercase_Letter}\p{Ll}$)", "Éa"));
  EXPECT_TRUE(matches(R"(^\p{General_Category=Decimal_Number}\p{gc=Nd}\p{digit}$)", "1٢3"));
  EXPECT_TRUE(matches(R"(^\p{Script=Greek}+$)", "πω"));
  EXPECT_TRUE(matches(R"(^[\p{Cased_Letter}\s]+$)", "aB c"));
  EXPECT_TRUE(matches(R"(^\P{Letter}[\P{L}]$)", "12"));
  EXPECT_TRUE(matches(R"(^\p{ASCII}$)", "~"));
  EXPECT_FALSE(matches(R"(^\P{Cased_Letter}$)", "a"));
  EXPECT_EQ(refusal(R"(\p{Klingon})").kind(), ErrorKind::unsupported);
  EXPECT_EQ(refusal(R"([\P{LC}])").kind(), ErrorKind::unsupported);
  EXPECT_EQ(refusal(R"(\pL)").kind(), ErrorKind::invalid);
}

TEST(Pattern, CountsSpaceAndLineEndsAsEcmaScriptDoes) {
  for (const std::string_view space : {"\t", "\v", " ", "\u00a0", "\u2003", "\u2028", "\ufeff"}) {
    EXPECT_TRUE(matches(R"(^\s$)", space));
    EXPECT_TRUE(matches(R"(^[x\s]$)", space));
    EXPECT_FALSE(matches(R"(^\S$)", space));
    EXPECT_FALSE(matches(R"(^[\S]$)", space));
    EXPECT_TRUE(matches(R"(^[\S\s]$)", space));
  }
  EXPECT_FALSE(matches("^.$", "\r"));
  EXPECT_FALSE(matches("^.$", "\u2029"));
  EXPECT_TRUE(matches("^.$", "🐲"));
  EXPECT_FALSE(matches(R"(^\w$)", "é"));
  EXPECT_TRUE(matches(R"(^[\W]$)", "é"));
}

TEST(Pattern, ReadsEveryEscape) {
  EXPECT_TRUE(matches(R"(^\cC\t\x41\u0042\u{1F409}\ud83d\udc32\0\/\-\.$)", std::string_view("\x03\tAB🐉🐲\0/-.", 16)));
  EXPECT_TRUE(matches(R"(^[\b\-\]a-c[:]+$)", "\b-]b[:"));
  EXPECT_TRUE(matches(R"(\bfoo\b)", "a foo b"));
  EXPECT_TRUE(matches(R"(^{x}$)", "{x}"));
  EXPECT_TRUE(matches(R"(^a{2,}?b{1}c{0,1}$)", "aab"));
  EXPECT_TRUE(matches(R"(^(?<year>\d{4})(?:-(\d\d))?$)", "2024-05"));
  EXPECT_TRUE(matches("^[^]$", "\n"));
  EXPECT_FALSE(matches("[]", "anything"));
  EXPECT_TRUE(matches(R"([\d-x]$)", "-"));
}

// SEC-04
TEST(Pattern, RefusesWhatHasNoLinearForm) {
  EXPECT_EQ(refusal("a(?=b)").message(), "lookahead is not supported");
  EXPECT_EQ(refusal("a(?!b)").message(), "lookahead is not supported");
  EXPECT_EQ(refusal("(?<=a)b").message(), "lookbehind is not supported");
  EXPECT_EQ(refusal(R"((a)\1)").message(), "a backreference is not supported");
  EXPECT_EQ(refusal(R"((?<n>a)\k<n>)").kind(), ErrorKind::unsupported);
  EXPECT_EQ(refusal("a{1,5000}").kind(), ErrorKind::unsupported);
  EXPECT_EQ(refusal("a{99999999999999999999}").kind(), ErrorKind::unsupported);
}

TEST(Pattern, RefusesBrokenSyntax) {
  for (const std::string_view broken :
       {"(",     ")",           "[a",  "*a",  "a**",   "^*",   "a{2,1}", "[z-a]",    "\\",   "\\c1", "\\x4",
        "\\u12", "\\u{110000}", "\\a", "\\Z", "(?i)a", "(?<n", "\\p{",   "\\p{a b}", "\xff", "\xc3"}) {
    EXPECT_EQ(refusal(broken).kind(), ErrorKind::invalid) << broken;
  }
}

TEST(Pattern, IsSharedByItsTextAsLongAsSomebodyUsesIt) {
  auto first = Pattern::compile("^shared[0-9]+$");
  const auto second = Pattern::compile("^shared[0-9]+$");
  EXPECT_EQ(first->get(), second->get());
  const std::weak_ptr<const Pattern> weak = *first;
  first = Pattern::compile("^another$");
  EXPECT_FALSE(weak.expired());
}

TEST(Pattern, IsForgottenWithItsLastUser) {
  std::weak_ptr<const Pattern> weak;
  {
    const auto only = Pattern::compile("^forgotten$");
    weak = *only;
  }
  EXPECT_TRUE(weak.expired());
  EXPECT_TRUE(matches("^forgotten$", "forgotten"));
}

TEST(Pattern, IsCompiledByManyThreadsAtOnce) {
  std::vector<std::thread> threads;
  std::vector<std::shared_ptr<const Pattern>> kept(8);
  for (std::size_t i = 0; i < kept.size(); ++i) {
    threads.emplace_back([&kept, i] {
      for (int round = 0; round < 100; ++round) {
        const auto passing = Pattern::compile("^passing" + std::to_string(round) + "$");
        EXPECT_TRUE((*passing)->matches("passing" + std::to_string(round)));
      }
      kept[i] = *Pattern::compile("^raced$");
    });
  }
  for (auto& thread : threads)
    thread.join();
  for (const auto& pattern : kept)
    EXPECT_EQ(pattern, kept.front());
}

// SEC-04
TEST(Pattern, HasABoundOfLengthAndMemory) {
  EXPECT_EQ(refusal(std::string(5000, 'a')).kind(), ErrorKind::too_large);
  EXPECT_EQ(refusal(R"(\p{L}{900})").kind(), ErrorKind::too_large);
}

TEST(Pattern, HasASize) {
  EXPECT_LT((*Pattern::compile("^a$"))->size(), 10U);
  EXPECT_GT((*Pattern::compile("^a{500}$"))->size(), 500U);
}

}  // namespace
}  // namespace proteus::json::schema
