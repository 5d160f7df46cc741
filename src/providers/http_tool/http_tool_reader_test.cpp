#include "providers/http_tool/http_tool_reader.hpp"

#include <gmock/gmock.h>

#include "net/http_client/egress_rules.hpp"
#include "providers/testing/test_backend.hpp"

namespace proteus::providers {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr std::string_view kUrl = "http://127.0.0.1:8866/fetch";

class HttpToolReader : public testing::Test {
 protected:
  ReadTool read(std::string_view text) {
    auto outcome = read_http_tool(text, schemas_, check());
    if (auto* faults = std::get_if<std::vector<ToolFault>>(&outcome))
      throw std::runtime_error(faults->front().pointer + " " + faults->front().message);
    return std::get<ReadTool>(std::move(outcome));
  }
  std::vector<ToolFault> faults(std::string_view text) {
    auto outcome = read_http_tool(text, schemas_, check());
    if (auto* found = std::get_if<std::vector<ToolFault>>(&outcome)) return *found;
    return {};
  }
  std::string first_pointer(std::string_view text) {
    const auto all = faults(text);
    return all.empty() ? "no fault" : all.front().pointer;
  }
  static std::string with_schema(std::string_view schema, std::string_view members = {}) {
    return fmt::format(R"({{"name":"t","description":"d","url":"{}","inputSchema":{}{}}})", kUrl, schema, members);
  }
  UrlCheck check() {
    return [this](const net::Url& url) { return rules_->check(url); };
  }

  SharedSchemas schemas_;
  std::unique_ptr<net::EgressRules> rules_ =
      std::make_unique<net::EgressRules>(net::EgressSettings{.allow_loopback = true});
};

// SES-09
TEST_F(HttpToolReader, ShowsClientsWhatIsTheirsAndHidesTheRest) {
  const auto read_tool =
      read(test::tool_text("run_query", kUrl, R"(, "title" : "Run", "fixed_params":{"connector_id":42.0})"));
  EXPECT_THAT(read_tool.definition, AllOf(HasSubstr(R"("name":"run_query")"), HasSubstr(R"("title":"Run")"),
                                          HasSubstr(R"("required":["query"])")));
  EXPECT_THAT(read_tool.definition, Not(HasSubstr("connector_id")));
  EXPECT_THAT(read_tool.definition, Not(HasSubstr("8866")));
  EXPECT_THAT(read_tool.definition, Not(HasSubstr("open_table")));
  EXPECT_EQ(read_tool.tool->tail, R"("connector_id":42.0,"action":"open_table")");
  EXPECT_THAT(read_tool.tool->reserved, ElementsAre("action", "connector_id"));
}

TEST_F(HttpToolReader, ReadsItsOwnHalvesAgain) {
  const auto first = read(test::tool_text("run_query", kUrl, R"(,"fixed_params":{"a":1},"timeout":"20s")"));
  const auto again = read(join_tool(first.definition, first.hidden));
  EXPECT_EQ(again.definition, first.definition);
  EXPECT_EQ(again.hidden, first.hidden);
  EXPECT_EQ(again.tool->timeout, std::chrono::seconds(20));
  EXPECT_EQ(again.tool->input, first.tool->input);
}

TEST_F(HttpToolReader, CompilesASchemaOnceHoweverItIsWritten) {
  const auto a = read(with_schema(R"({"type":"object","properties":{"x":{"type":"string"}}})"));
  const auto b = read(with_schema(R"({ "properties":{"x":{"type":"string"}}, "type":"object" })"));
  const auto c = read(with_schema(R"({"type":"object","properties":{"y":{"type":"string"}}})"));
  EXPECT_EQ(a.tool->input, b.tool->input);
  EXPECT_NE(a.tool->input, c.tool->input);
}

TEST_F(HttpToolReader, KeepsNoSchemaThatNobodyUses) {
  for (int i = 0; i < 1000; ++i)
    read(with_schema(fmt::format(R"({{"type":"object","properties":{{"p{}":{{}}}}}})", i)));
  EXPECT_LE(schemas_.size(), 64U);
}

// SES-11
TEST_F(HttpToolReader, AsksForConfirmationOfWhatIsDestructiveAlone) {
  const auto confirmation = [this](std::string_view hints) {
    return read(test::tool_text("t", kUrl, fmt::format(R"(,"annotations":{})", hints))).tool->confirmation;
  };
  EXPECT_EQ(confirmation(R"({"destructiveHint":true})"), Confirmation::required);
  EXPECT_EQ(confirmation(R"({"destructiveHint":true,"readOnlyHint":false})"), Confirmation::required);
  EXPECT_EQ(confirmation(R"({"destructiveHint":true,"readOnlyHint":true})"), Confirmation::none);
  EXPECT_EQ(confirmation("{}"), Confirmation::none);
  EXPECT_EQ(read(test::tool_text("t", kUrl)).tool->confirmation, Confirmation::none);
}

// SES-19
TEST_F(HttpToolReader, NamesEveryFault) {
  const auto all =
      faults(R"({"name":"bad name","url":"file:///etc/passwd","inputSchema":"x","timeout":-1,"descripton":"d"})");
  std::vector<std::string> pointers;
  for (const auto& fault : all) {
    EXPECT_EQ(fault.tool, "bad name");
    pointers.push_back(fault.pointer);
  }
  EXPECT_THAT(pointers, ElementsAre("/name", "/descripton", "/description", "/url", "/timeout", "/inputSchema"));
  EXPECT_THAT(all[1].message, HasSubstr("description"));
}

TEST_F(HttpToolReader, RefusesNamesThatClientsWould) {
  for (const std::string& name : {std::string(), std::string(129, 'a'), std::string("a b"),
                                  std::string("\xf0\x9f\x98\x80"), std::string("a\\u0001")}) {
    EXPECT_EQ(first_pointer(test::tool_text(name, kUrl)), "/name") << name;
  }
  EXPECT_EQ(first_pointer(R"({"description":"d","url":"http://127.0.0.1/","inputSchema":{"type":"object"}})"), "/name");
  EXPECT_EQ(first_pointer(test::tool_text(std::string(128, 'a'), kUrl)), "no fault");
}

// SES-23
TEST_F(HttpToolReader, RefusesUrlsThatMayNotBeAsked) {
  for (const auto* url :
       {"file:///etc/passwd", "ftp://x/", "http://169.254.169.254/", "http://[::ffff:169.254.169.254]/",
        "http://10.0.0.1/", "http://user:secret@example.com/", "/relative"}) {
    EXPECT_EQ(first_pointer(test::tool_text("t", url)), "/url") << url;
  }
  rules_ = std::make_unique<net::EgressRules>(net::EgressSettings{});
  EXPECT_EQ(first_pointer(test::tool_text("t", kUrl)), "/url");
  EXPECT_EQ(first_pointer(test::tool_text("t", "http://localhost/")), "/url");
}

// SES-10
TEST_F(HttpToolReader, RefusesASchemaThatDeclaresWhatWeSend) {
  EXPECT_EQ(first_pointer(with_schema(R"({"type":"object","properties":{"action":{}}})")),
            "/inputSchema/properties/action");
  EXPECT_EQ(first_pointer(with_schema(R"({"type":"object","properties":{"key":{}}})", R"(,"fixed_params":{"key":1})")),
            "/inputSchema/properties/key");
  EXPECT_EQ(first_pointer(with_schema(R"({"type":"object","allOf":[{"$ref":"#/$defs/a"}],)"
                                      R"("$defs":{"a":{"properties":{"key":{}}}}})",
                                      R"(,"fixed_params":{"key":1})")),
            "/inputSchema/properties/key");
  EXPECT_EQ(first_pointer(with_schema(R"({"type":"object","$ref":"#/$defs/a~1b%20c/oneOf/0",)"
                                      R"("$defs":{"a/b c":{"oneOf":[{"properties":{"action":{}}}]}}})")),
            "/inputSchema/properties/action");
  EXPECT_EQ(first_pointer(with_schema(R"({"type":"object"})", R"(,"fixed_params":{"action":1})")),
            "/fixed_params/action");
}

// SEC-04. Following each of these references from each of the others would take centuries.
TEST_F(HttpToolReader, FollowsReferencesThatLeadToTheSameSchemaOnce) {
  std::string references = R"({"$ref":"#"})";
  for (int i = 0; i < 1000; ++i)
    references += R"(,{"$ref":"#"})";
  EXPECT_EQ(first_pointer(with_schema(
                fmt::format(R"({{"type":"object","properties":{{"action":{{}}}},"allOf":[{}]}})", references))),
            "/inputSchema/properties/action");
}

// SEC-04
TEST_F(HttpToolReader, RefusesSchemasThatAreNone) {
  for (const auto* schema : {R"("string")", "[]", "null", R"({"type":"string"})", "{}",
                             R"({"type":"object","properties":{"x":{"type":"strnig"}}})",
                             R"({"type":"object","properties":{"x":{"$ref":"https://example.com/s.json"}}})",
                             R"({"type":"object","properties":{"x":{"pattern":"(?=a)b"}}})"}) {
    EXPECT_THAT(first_pointer(with_schema(schema)), HasSubstr("/inputSchema")) << schema;
  }
  const std::string large(http_tool_limits::kBytes, 'x');
  EXPECT_EQ(first_pointer(with_schema(fmt::format(R"({{"type":"object","description":"{}"}})", large))), "");
}

TEST_F(HttpToolReader, RefusesWhatIsNoTool) {
  EXPECT_THAT(faults("[]"), ElementsAre(Field(&ToolFault::message, HasSubstr("object"))));
  EXPECT_THAT(faults("{"), Not(IsEmpty()));
  EXPECT_EQ(first_pointer(test::tool_text("t", kUrl, R"(,"fixed_params":[])")), "/fixed_params");
  EXPECT_EQ(read(test::tool_text("t", kUrl, R"(,"fixed_p\u0061rams":{"a":1})")).tool->tail,
            R"("a":1,"action":"open_table")");
  EXPECT_EQ(first_pointer(test::tool_text("t", kUrl, R"(,"annotations":{"readOnlyHint":"yes"})")),
            "/annotations/readOnlyHint");
  EXPECT_EQ(first_pointer(test::tool_text("t", kUrl, R"(,"outputSchema":{"type":"array"})")), "/outputSchema/type");
}

}  // namespace
}  // namespace proteus::providers
