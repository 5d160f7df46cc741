// Untrusted peers must not slow us down: the work on their data must grow no faster than the data. Times mean little on
// a busy machine, so this test counts allocated bytes, which reveal whatever is copied or built too often.
#include <atomic>
#include <cstdlib>
#include <functional>
#include <new>
#include <string>
#include <vector>

#include <boost/json/parse.hpp>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/text/visible_text.hpp"
#include "catalog/definitions/definition_list.hpp"
#include "catalog/definitions/names.hpp"
#include "catalog/definitions/plain_uri.hpp"
#include "catalog/definitions/sentences.hpp"
#include "catalog/pins/change.hpp"
#include "catalog/pins/pins.hpp"
#include "catalog/pins/schema_change.hpp"
#include "json/canonical.hpp"
#include "json/message.hpp"
#include "json/text.hpp"
#include "mcp/headers.hpp"

// The thread sanitizer has its own allocator, which cannot be replaced.
#if __has_feature(thread_sanitizer)
#define PROTEUS_CANNOT_COUNT
#endif

namespace {

std::atomic<std::size_t> allocated_bytes = 0;

#ifndef PROTEUS_CANNOT_COUNT
void* allocate_and_count(std::size_t size) {
  allocated_bytes.fetch_add(size, std::memory_order_relaxed);
  if (void* const memory = std::malloc(size == 0 ? 1 : size)) return memory;  // NOLINT(*-no-malloc)
  throw std::bad_alloc();
}
#endif

}  // namespace

// These apply to the whole test program.
#ifndef PROTEUS_CANNOT_COUNT
// NOLINTBEGIN(*-no-malloc)
void* operator new(std::size_t size) { return allocate_and_count(size); }
void* operator new[](std::size_t size) { return allocate_and_count(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t /*size*/) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t /*size*/) noexcept { std::free(memory); }
// NOLINTEND(*-no-malloc)
#endif

namespace proteus::catalog {
namespace {

std::string repeated(std::size_t times, const std::function<std::string(std::size_t)>& part,
                     std::string_view between = ",") {
  std::string out;
  for (std::size_t i = 0; i < times; ++i) {
    if (i > 0) out += between;
    out += part(i);
  }
  return out;
}

std::string properties(std::size_t count, std::string_view type) {
  return fmt::format(R"({{"type":"object","properties":{{{}}}}})", repeated(count, [&](std::size_t i) {
                       return fmt::format(R"("p{}":{{"type":"{}","enum":["a","b"]}})", i, type);
                     }));
}

std::string tool_with(std::size_t count, std::string_view type) {
  return fmt::format(R"({{"name":"t","description":"{}","inputSchema":{}}})", std::string(count, 'd'),
                     properties(count, type));
}

// Work on `size` parts of untrusted data. Preparing the data is not counted.
struct Work {
  std::string_view name;
  std::function<std::function<void()>(std::size_t size)> prepare;
};

std::vector<Work> all_work() {
  const auto build = [](std::vector<std::string> texts, NameStyle style) {
    return [texts = std::move(texts), style] {
      const std::vector<std::string_view> views(texts.begin(), texts.end());
      const auto list = DefinitionList::build(Kind::tool, views, {"up_", style}, {});
      EXPECT_TRUE(list);
    };
  };
  return {
      {"a list of many tools",
       [=](std::size_t size) {
         std::vector<std::string> tools;
         for (std::size_t i = 0; i < size; ++i)
           tools.push_back(fmt::format(R"({{"name":"t{}","inputSchema":{{"type":"object"}}}})", i));
         return build(std::move(tools), NameStyle::as_is);
       }},
      {"a list of many names that are not portable",
       [=](std::size_t size) {
         std::vector<std::string> tools;
         for (std::size_t i = 0; i < size; ++i)
           tools.push_back(fmt::format(R"({{"name":"{}.{}","inputSchema":{{"type":"object"}}}})", i % 7, i));
         return build(std::move(tools), NameStyle::portable);
       }},
      {"a list with one large tool",
       [=](std::size_t size) { return build({tool_with(size, "string")}, NameStyle::as_is); }},
      {"comparing schemas",
       [](std::size_t size) {
         return [before = boost::json::parse(properties(size, "string")),
                 after = boost::json::parse(properties(size, "integer"))] {
           EXPECT_FALSE(breaking_changes(before, after, SchemaOf::input).empty());
         };
       }},
      {"comparing a schema with alternatives that it was not made of",
       [](std::size_t size) {
         const std::string required = repeated(size, [](std::size_t i) { return fmt::format(R"("p{}")", i); });
         const std::string branches = repeated(50, [](std::size_t) { return R"({"anyOf":[{"type":"string"}]})"; });
         return [before = boost::json::parse(fmt::format(R"({{"required":[{}]}})", required)),
                 after = boost::json::parse(fmt::format(R"({{"anyOf":[{}]}})", branches))] {
           EXPECT_FALSE(breaking_changes(before, after, SchemaOf::input).empty());
         };
       }},
      {"a difference in lines",
       [](std::size_t size) {
         const auto lines = [size](std::string_view odd) {
           return repeated(
               size, [&](std::size_t i) { return fmt::format("{} {}", i % 2 == 0 ? "line" : odd, i); }, "\n");
         };
         return [before = lines("line"), after = lines("other")] {
           EXPECT_FALSE(readable_diff(kInstructions, before, after).empty());
         };
       }},
      {"sentences that are left out",
       [](std::size_t size) {
         return [text = repeated(
                     size, [](std::size_t i) { return fmt::format("Sentence {}.", i); }, " ")] {
           bool odd = false;
           EXPECT_FALSE(without_sentences(text, [&](std::string_view) { return odd = !odd; }).empty());
         };
       }},
      {"a canonical hash",
       [](std::size_t size) {
         return [text = properties(size, "string")] { EXPECT_TRUE(json::canonical_hash(text)); };
       }},
      {"parameters that headers repeat, below a long name",
       [](std::size_t size) {
         const std::string inner = repeated(size, [](std::size_t i) {
           return fmt::format(R"("p{}":{{"type":"string","x-mcp-header":"P{}"}})", i, i);
         });
         return [schema = boost::json::parse(fmt::format(R"({{"properties":{{"{}":{{"properties":{{{}}}}}}}}})",
                                                         std::string(16 * size, 'x'), inner))] {
           EXPECT_FALSE(mcp::mirrored_parameters(schema));
         };
       }},
      {"text made visible",
       [](std::size_t size) {
         return [text = std::string(size, '\x1b')] { EXPECT_FALSE(visible_text(text).empty()); };
       }},
      {"a plain URI",
       [](std::size_t size) {
         return [text = "file:///" + repeated(
                                         size, [](std::size_t) { return "a/.."; }, "/")] {
           EXPECT_FALSE(plain_uris(text).empty());
         };
       }},
      {"the elements of an array",
       [](std::size_t size) {
         return [text = "[" + repeated(size, [](std::size_t) { return "{}"; }) + "]"] {
           EXPECT_TRUE(json::elements_of(text, 1'000'000));
         };
       }},
  };
}

// SEC-03: four times the data allocates four times as much, and a little more where buffers double. Quadratic work
// would allocate sixteen times as much.
TEST(Growth, IsThatOfTheData) {
#ifdef PROTEUS_CANNOT_COUNT
  GTEST_SKIP() << "allocations cannot be counted under the thread sanitizer";
#endif
  constexpr std::size_t kSize = 1000;
  for (const Work& work : all_work()) {
    const auto bytes_of = [&](std::size_t size) {
      const auto run = work.prepare(size);
      const std::size_t before = allocated_bytes;
      run();
      return allocated_bytes - before;
    };
    bytes_of(kSize);  // one-time allocations are not counted
    const std::size_t one = bytes_of(kSize);
    const std::size_t four = bytes_of(4 * kSize);
    EXPECT_LE(four, 6 * one + 10'000) << work.name << ": " << one << " bytes became " << four;
  }
}

}  // namespace
}  // namespace proteus::catalog
