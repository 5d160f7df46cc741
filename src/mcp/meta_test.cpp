#include "mcp/meta.hpp"

#include <gtest/gtest.h>

#include "mcp/protocol_schema_test.hpp"

namespace proteus::mcp {
namespace {

TEST(MetaKeys, OfTheProtocolAreOursTowardsAnUpstream) {
  for (const auto key :
       {meta::kProtocolVersion, meta::kClientInfo, meta::kClientCapabilities, meta::kLogLevel, meta::kProgressToken}) {
    EXPECT_TRUE(meta::is_protocol_key(key)) << key;
  }
}

// PRO-13, PRO-15: keys that a caller adds belong to the caller.
TEST(MetaKeys, OfCallersAndTracesAreNot) {
  for (const auto* const key : {"traceparent", "tracestate", "baggage", "com.example/x",
                                "io.modelcontextprotocol/related-task", "", "progresstoken"}) {
    EXPECT_FALSE(meta::is_protocol_key(key)) << key;
  }
}

TEST(LogLevels, HaveNamesThatReadBackAsTheSameAndRiseInSeverity) {
  const char* const names[] = {"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"};
  auto last = LogLevel::debug;
  for (const auto* const name : names) {
    const auto level = parse_log_level(name);
    ASSERT_TRUE(level) << name;
    EXPECT_EQ(to_string(*level), name);
    EXPECT_GE(*level, last);
    last = *level;
  }
  for (const auto* const wrong : {"", "warn", "Error", "trace", "info "}) {
    EXPECT_EQ(parse_log_level(wrong), std::nullopt) << wrong;
  }
}

TEST(LogLevels, AreThoseOfTheSchema) {
  SKIP_WITHOUT_PROTOCOL_SCHEMAS();
  for (const Version version : kAllVersions) {
    const auto& listed = definition(version, "LoggingLevel").at("enum").as_array();
    EXPECT_EQ(listed.size(), 8U);
    for (const auto& level : listed)
      EXPECT_TRUE(parse_log_level(level.as_string())) << level;
  }
}

TEST(ClientCapabilities, AreReadFromWhatAClientDeclares) {
  const auto all = parse_client_capabilities(
      R"({"elicitation":{"form":{},"url":{}},"sampling":{"tools":{},"context":{}},"roots":{"listChanged":true},"x":1})");
  ASSERT_TRUE(all);
  EXPECT_TRUE(all->elicitation_form && all->elicitation_url && all->sampling && all->sampling_tools &&
              all->sampling_context && all->roots && all->roots_list_changed);
  const auto none = parse_client_capabilities(" { } ");
  ASSERT_TRUE(none);
  EXPECT_FALSE(none->elicitation_form || none->elicitation_url || none->sampling || none->sampling_tools ||
               none->sampling_context || none->roots || none->roots_list_changed);
}

TEST(ClientCapabilities, TakeAnEmptyElicitationForForms) {
  const auto old = parse_client_capabilities(R"({"elicitation":{}})");
  EXPECT_TRUE(old->elicitation_form);
  EXPECT_FALSE(old->elicitation_url);
  const auto only_url = parse_client_capabilities(R"({"elicitation":{"url":{}}})");
  EXPECT_FALSE(only_url->elicitation_form);
  EXPECT_TRUE(only_url->elicitation_url);
}

TEST(ClientCapabilities, AreNotDeclaredBySomethingThatIsNoObject) {
  const auto odd =
      parse_client_capabilities(R"({"elicitation":null,"sampling":false,"roots":[],"extensions":{"a":{}}})");
  ASSERT_TRUE(odd);
  EXPECT_FALSE(odd->elicitation_form || odd->elicitation_url || odd->sampling || odd->roots);
  EXPECT_FALSE(parse_client_capabilities(R"({"sampling":{"tools":null}})")->sampling_tools);
  for (const auto* const wrong : {"", "null", "[]", "true", "{", R"({"a":1,"a":2})"}) {
    EXPECT_FALSE(parse_client_capabilities(wrong)) << wrong;
  }
}

ClientCapabilities client_from_bits(unsigned bits) {
  ClientCapabilities made;
  made.elicitation_form = (bits & 1U) != 0;
  made.elicitation_url = (bits & 2U) != 0;
  made.sampling = (bits & 4U) != 0;
  made.sampling_tools = made.sampling && (bits & 8U) != 0;
  made.sampling_context = made.sampling && (bits & 16U) != 0;
  made.roots = (bits & 32U) != 0;
  made.roots_list_changed = made.roots && (bits & 64U) != 0;
  return made;
}

TEST(ClientCapabilities, ReadBackAsTheyWereWritten) {
  for (unsigned bits = 0; bits < 128; ++bits) {
    const ClientCapabilities made = client_from_bits(bits);
    const auto read = parse_client_capabilities(write_client_capabilities(made));
    ASSERT_TRUE(read);
    EXPECT_EQ(read->elicitation_form, made.elicitation_form);
    EXPECT_EQ(read->elicitation_url, made.elicitation_url);
    EXPECT_EQ(read->sampling, made.sampling);
    EXPECT_EQ(read->sampling_tools, made.sampling_tools);
    EXPECT_EQ(read->sampling_context, made.sampling_context);
    EXPECT_EQ(read->roots, made.roots);
    EXPECT_EQ(read->roots_list_changed, made.roots_list_changed);
  }
}

TEST(ClientCapabilities, ConformToEveryRevision) {
  SKIP_WITHOUT_PROTOCOL_SCHEMAS();
  for (unsigned bits = 0; bits < 128; ++bits) {
    const std::string text = write_client_capabilities(client_from_bits(bits));
    for (const Version version : kAllVersions)
      EXPECT_TRUE(conforms(version, "ClientCapabilities", text));
  }
}

}  // namespace
}  // namespace proteus::mcp
