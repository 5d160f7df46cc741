// `proteus client`, in process: what it prints and how it ends.
#include <csignal>
#include <sstream>

#include <boost/json/parse.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/commands/ask_user.hpp"
#include "app/commands/client_output.hpp"
#include "app/commands/client_target.hpp"
#include "app/commands/command.hpp"
#include "app/commands/terminal.hpp"

namespace proteus::app {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Outcome {
  ExitCode code;
  std::string out;
  std::string err;
};

Outcome proteus(std::vector<std::string> arguments) {
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  const ExitCode code = run(std::move(arguments));
  Outcome outcome{code, ::testing::internal::GetCapturedStdout(), ::testing::internal::GetCapturedStderr()};
  return outcome;
}

std::vector<std::string> with_fixture(std::vector<std::string> arguments, const std::string& era) {
  for (const std::string& word :
       {std::string("--"), std::string("python3"), std::string(PROTEUS_SOURCE_DIR "/tests/fixtures/stdio_server.py"),
        std::string("--era"), era})
    arguments.push_back(word);
  return arguments;
}

TEST(CommandLine, SaysItsVersionAndHelp) {
  EXPECT_THAT(proteus({"--version"}).out, ::testing::StartsWith("proteus "));
  const auto help = proteus({"client", "call", "--help"});
  EXPECT_EQ(help.code, ExitCode::done);
  EXPECT_THAT(help.out, HasSubstr("[URL] [NAME] [JSON]"));
}

TEST(CommandLine, EndsWithTwoOnBadUsage) {
  EXPECT_EQ(proteus({}).code, ExitCode::usage);
  EXPECT_EQ(proteus({"client"}).code, ExitCode::usage);
  EXPECT_EQ(proteus({"client", "list"}).code, ExitCode::usage);
  EXPECT_EQ(proteus({"client", "list", "nonsense"}).code, ExitCode::usage);
  EXPECT_EQ(proteus({"client", "list", "http://"}).code, ExitCode::usage);
  EXPECT_EQ(proteus({"client", "list", "http://h/", "more"}).code, ExitCode::usage);
  EXPECT_EQ(proteus({"client", "list", "--era", "stone", "http://h/"}).code, ExitCode::usage);
  EXPECT_EQ(proteus({"client", "list", "--timeout", "soon", "http://h/"}).code, ExitCode::usage);
  EXPECT_EQ(proteus({"client", "list", "--header", "nothing", "http://h/"}).code, ExitCode::usage);
  EXPECT_EQ(proteus({"client", "call", "http://h/", "tool", "[1]"}).code, ExitCode::usage);
  EXPECT_EQ(proteus({"client", "call", "http://h/"}).code, ExitCode::usage);
}

TEST(CommandLine, EndsWithOneWhereTheServerFails) {
  const auto outcome = proteus({"client", "list", "http://127.0.0.1:1/mcp"});
  EXPECT_EQ(outcome.code, ExitCode::problems);
  EXPECT_THAT(outcome.err, HasSubstr("127.0.0.1"));
}

class ClientCommand : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Era, ClientCommand, ::testing::Values("legacy", "modern"),
                         [](const auto& era) { return era.param; });

TEST_P(ClientCommand, ListsAsTablesWithoutColoursInAPipe) {
  const auto outcome = proteus(with_fixture({"client", "list"}, GetParam()));
  EXPECT_EQ(outcome.code, ExitCode::done);
  EXPECT_THAT(outcome.out, HasSubstr("Tools (18)\n  NAME      DESCRIPTION\n  echo\n"));
  EXPECT_THAT(outcome.out, HasSubstr("(" + GetParam() + ")"));
  EXPECT_THAT(outcome.out, ::testing::Not(HasSubstr("\x1b")));
}

TEST_P(ClientCommand, ListsAsJson) {
  const auto outcome = proteus(with_fixture({"client", "list", "--json"}, GetParam()));
  EXPECT_EQ(outcome.code, ExitCode::done);
  EXPECT_THAT(outcome.out, HasSubstr(R"("tools":[{"name":"echo")"));
}

std::vector<std::string> with_broken_prompts(std::vector<std::string> arguments, const std::string& era) {
  arguments = with_fixture(std::move(arguments), era);
  arguments.insert(arguments.end(), {"--fault", "fails-prompts/list"});
  return arguments;
}

// REF-34
TEST_P(ClientCommand, ListsTheRestWhereOneListFails) {
  const auto outcome = proteus(with_broken_prompts({"client", "list"}, GetParam()));
  EXPECT_EQ(outcome.code, ExitCode::problems);
  EXPECT_THAT(outcome.out, HasSubstr("Tools (18)\n"));
  EXPECT_THAT(outcome.out, HasSubstr("\nPrompts could not be read: prompts/list: "));
  EXPECT_THAT(outcome.out, HasSubstr("Resources (1)\n"));
}

// REF-34
TEST_P(ClientCommand, WritesNoEmptyListForOneThatFails) {
  const auto outcome = proteus(with_broken_prompts({"client", "list", "--json"}, GetParam()));
  EXPECT_EQ(outcome.code, ExitCode::problems);
  const auto listed = boost::json::parse(outcome.out);
  EXPECT_FALSE(listed.as_object().contains("prompts"));
  EXPECT_EQ(listed.at("resources").as_array().size(), 1U);
  ASSERT_EQ(listed.at("faults").as_array().size(), 1U);
  EXPECT_EQ(listed.at("faults").at(0).at("kind"), "prompts");
  EXPECT_THAT(std::string(listed.at("faults").at(0).at("error").as_string()), HasSubstr("it broke"));
}

// REF-34
TEST_P(ClientCommand, WatchesTheRestWhereOneListFails) {
  // The signal is pending from the start, so the command ends as soon as it waits for one.
  sigset_t end{};
  sigset_t before{};
  sigemptyset(&end);
  sigaddset(&end, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &end, &before);
  ::raise(SIGTERM);
  const auto outcome = proteus(with_broken_prompts({"client", "watch"}, GetParam()));
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  EXPECT_EQ(outcome.code, ExitCode::done);
  EXPECT_EQ(outcome.out, "watching 18 tools, unread prompts and 1 resources; Ctrl-C ends\n");
}

TEST_P(ClientCommand, CallsAndShowsProgress) {
  const auto outcome = proteus(with_fixture({"client", "call", "progress"}, GetParam()));
  EXPECT_EQ(outcome.code, ExitCode::done);
  EXPECT_EQ(outcome.out, "done\n");
  EXPECT_EQ(outcome.err, "progress 1/3 step\nprogress 2/3 step\nprogress 3/3 step\n");
  EXPECT_EQ(proteus(with_fixture({"client", "call", "echo", R"({"x":1})"}, GetParam())).out, "{\"x\": 1}\n");
  EXPECT_EQ(proteus(with_fixture({"client", "call", "unheard"}, GetParam())).code, ExitCode::problems);
}

TEST(ClientTargetTest, ReadsTimeOutsAndCommands) {
  ClientTarget target;
  target.url = "http://127.0.0.1:1/mcp";
  for (const char* text : {"", "500ms", "1m30s", "5m", "30"}) {
    target.timeout = text;
    EXPECT_TRUE(target.builder()) << text;
  }
  for (const char* text : {"-1s", "0", "0s", "1e300s", "nan", "s"}) {
    target.timeout = text;
    EXPECT_FALSE(target.builder()) << text;
  }
  EXPECT_THAT(*split_words(R"(a 'b c' "d"e  f)"), ElementsAre("a", "b c", "de", "f"));
  EXPECT_FALSE(split_words("a 'b"));
}

TEST(TerminalTest, PutsForeignTextOnOneLine) {
  EXPECT_EQ(one_line(" a\n\tb \x1b[31mred\x7f \xc2\x9b"
                     "1m caf\xc3\xa9 "),
            R"(a b \x1b[31mred\x7f \u{9b}1m café)");
  EXPECT_EQ(cut("naïve text", 6), "naïve…");
  EXPECT_EQ(cut("naïve", 5), "naïve");
  EXPECT_EQ(cut("abc", 0), "");
}

TEST(TerminalTest, CutsTheLastColumnToTheWidth) {
  Table table({"NAME", "DESCRIPTION"});
  table.add({"one", "a description that is too long for the line"});
  EXPECT_EQ(table.str(Terminal(true, false, 30)), "  NAME  DESCRIPTION\n  one   a description that is…\n");
  EXPECT_EQ(table.str(Terminal(false, false, 0)),
            "  NAME  DESCRIPTION\n  one   a description that is too long for the line\n");
  EXPECT_THAT(table.str(Terminal(true, true, 30)), HasSubstr("\x1b[1mone\x1b[0m"));
}

TEST(ClientOutput, ShowsChangesByName) {
  const client::Change change{client::Change::Kind::tools, {"new"}, {"old"}, {"other"}};
  EXPECT_EQ(show_change(change, Terminal(false, false, 0)), "+ tool new\n- tool old\n~ tool other\n");
  EXPECT_EQ(change_json(change), R"({"kind":"tools","added":["new"],"removed":["old"],"changed":["other"]})"
                                 "\n");
}

TEST(ClientOutput, LetsNoResultControlATerminal) {
  client::ToolResult result;
  result.value = {{"content", {{{"type", "text"}, {"text", "one\n\ttwo\x1b]0;title\x07\u202e"}}}}};
  EXPECT_EQ(show_result(result, Terminal(true, true, 80)), "one\n\ttwo\\x1b]0;title\\x07\\u{202e}\n");
  EXPECT_EQ(show_result(result, Terminal(false, false, 0)), "one\n\ttwo\x1b]0;title\x07\u202e\n");
}

TEST(ClientOutput, SaysWhatABlockIsThatCannotBePrinted) {
  client::ToolResult result;
  result.value = {{"content",
                   {{{"type", "text"}, {"text", "hello"}},
                    {{"type", "image"}, {"mimeType", "image/png"}, {"data", "AAAA"}},
                    {{"type", "resource_link"}, {"uri", "test://x"}}}}};
  EXPECT_EQ(show_result(result, Terminal(false, false, 0)),
            "hello\n[image: image/png, 4 characters of Base64]\n[link: test://x]\n");
}

TEST(AskUser, AsksFieldByField) {
  client::Elicitation asked;
  asked.message = "Who are you?";
  asked.requested_schema = {{"properties",
                             {{"name", {{"type", "string"}}},
                              {"age", {{"type", "integer"}}},
                              {"sure", {{"type", "boolean"}, {"default", true}}},
                              {"size", {{"type", "string"}, {"enum", {"s", "m"}}}}}},
                            {"required", {"name"}}};
  std::istringstream in("y\n\nAda\nold\n36\n\nm\n");
  std::ostringstream out;
  const auto answer = ask_user(asked, in, out);
  EXPECT_EQ(answer.action, client::ElicitationAnswer::Action::accept);
  EXPECT_EQ(boost::json::value(answer.content), boost::json::value({{"name", "Ada"}, {"age", 36}, {"size", "m"}}));
  std::istringstream end("");
  EXPECT_EQ(ask_user(asked, end, out).action, client::ElicitationAnswer::Action::cancel);
}

client::ElicitationAnswer::Action answer_to(const boost::json::object& schema, const std::string& typed) {
  client::Elicitation asked;
  asked.message = "Delete everything?";
  asked.requested_schema = schema;
  std::istringstream in(typed);
  std::ostringstream out;
  return ask_user(asked, in, out).action;
}

TEST(AskUser, AcceptsNothingThatThePersonHasNotAccepted) {
  using Action = client::ElicitationAnswer::Action;
  const boost::json::object none{{"properties", boost::json::object()}};
  const boost::json::object optional{{"properties", {{"why", {{"type", "string"}}}}}};
  for (const auto& schema : {none, optional}) {
    EXPECT_EQ(answer_to(schema, ""), Action::cancel);
    EXPECT_EQ(answer_to(schema, "\n"), Action::cancel);
    EXPECT_EQ(answer_to(schema, "n\n"), Action::decline);
    EXPECT_EQ(answer_to(schema, "perhaps\ny\n\n"), Action::accept);
  }
}

}  // namespace
}  // namespace proteus::app
