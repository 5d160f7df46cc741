#include <fstream>
#include <thread>

#include <gmock/gmock.h>

#include "gateway/testing/bridge_fixture.hpp"

namespace proteus::gateway {
namespace {

using namespace test;
using server::LegacyClient;
using server::rpc;
using server::text_of;

#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif
constexpr int kUpstreams = kSanitized ? 4 : 10;
constexpr int kClients = kSanitized ? 8 : 16;
constexpr int kWaves = kSanitized ? 3 : 6;
constexpr int kRounds = 3;
constexpr std::size_t kGrowth = std::size_t{4} << 20U;

std::size_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::size_t all = 0;
  std::size_t resident = 0;
  file >> all >> resident;
  return resident * 4096;
}

// Asks three questions, one after the other, each with the token of the call.
void add_interview(AskingUpstream& upstream) {
  upstream.add("interview", [&upstream](server::Context& context) -> server::Outcome<server::ToolResult> {
    const std::string token(context.arguments().at("token").as_string());
    std::string answers = token;
    for (int round = 1; round <= kRounds; ++round) {
      const std::string key = fmt::format("r{}", round);
      const auto* answer = context.answer(key);
      if (answer == nullptr) return server::Ask().elicit(key, fmt::format("{}?{}", token, round), name_form());
      answers += " " + AskingUpstream::said(*answer);
    }
    ++upstream.runs;
    return server::ToolResult::text(answers);
  });
}

std::string accept(const boost::json::value& question) {
  const std::string message(question.at("params").at("message").as_string());
  return fmt::format(R"({{"action":"accept","content":{{"name":"<{}>"}}}})", message);
}

std::string expected(std::string_view token) {
  std::string text(token);
  for (int round = 1; round <= kRounds; ++round)
    text += fmt::format(" <{}?{}>", token, round);
  return text;
}

std::string members_for(std::string_view tool, std::string_view token) {
  return fmt::format(R"("name":"{}","arguments":{{"token":"{}"}})", tool, token);
}

std::string interview_modern(TestGateway& gateway, const std::string& tool, const std::string& token) {
  ModernClient client(gateway);
  auto message = client.send("tools/call", tool, members_for(tool, token)).json();
  while (asks(message)) {
    std::string answers;
    for (const auto& [key, question] : message.at("result").at("inputRequests").as_object())
      answers += fmt::format(R"({}"{}":{})", answers.empty() ? "" : ",", std::string_view(key), accept(question));
    const std::string more = ModernClient::with_answers(message, "{" + answers + "}");
    message = client.send("tools/call", tool, members_for(tool, token) + more).json();
  }
  return message.as_object().contains("result") ? text_of(message) : boost::json::serialize(message);
}

std::string interview_legacy(TestGateway& gateway, const std::string& tool, const std::string& token) {
  LegacyClient client(gateway.port(), "2025-11-25", kEverything);
  client.client.send_request("POST", client.fields(), rpc("7", "tools/call", members_for(tool, token)));
  client.client.read_answer();
  std::string said = "nothing";
  while (const auto event = client.client.read_event()) {
    if (event->data.empty()) continue;
    const auto message = event->json();
    if (!message.as_object().contains("method")) {
      said = text_of(message);
      break;
    }
    RawClient other(gateway.port());
    other.request("POST", client.fields(),
                  fmt::format(R"({{"jsonrpc":"2.0","id":{},"result":{}}})", boost::json::serialize(message.at("id")),
                              accept(message)));
  }
  RawClient(gateway.port()).request("DELETE", client.fields());
  return said;
}

// Returns the outcome of an interview, or the text of an exception.
std::string interview(std::string (*how)(TestGateway&, const std::string&, const std::string&), TestGateway& gateway,
                      const std::string& tool, const std::string& token) {
  try {
    return how(gateway, tool, token);
  } catch (const std::exception& fault) {
    return fault.what();
  }
}

// BRG-01, BRG-02, BRG-03: upstreams and clients of both eras; memory does not grow from wave to wave.
TEST(ManyParkedCalls, EveryCallRunsOnceAndNothingIsLeftBehind) {
  std::vector<std::unique_ptr<AskingUpstream>> upstreams;
  std::vector<providers::UpstreamSettings> settings;
  for (int i = 0; i < kUpstreams; ++i) {
    upstreams.push_back(std::make_unique<AskingUpstream>(i % 2 == 0 ? legacy_only() : modern_only()));
    add_interview(*upstreams.back());
    settings.push_back(upstream_at(fmt::format("u{}", i), upstreams.back()->port));
  }
  TestGateway gateway(settings, {.parking = {.total = 10'000, .per_principal = 10'000}});
  gateway.discover();

  std::size_t warm = 0;
  for (int wave = 0; wave < kWaves; ++wave) {
    std::vector<std::thread> clients;
    clients.reserve(kClients);
    for (int i = 0; i < kClients; ++i) {
      clients.emplace_back([&gateway, wave, i] {
        for (int u = 0; u < kUpstreams; ++u) {
          const std::string token = fmt::format("{}-{}-{}", wave, i, u);
          const std::string tool = fmt::format("u{}_interview", u);
          EXPECT_EQ(i % 2 == 0 ? interview(interview_modern, gateway, tool, token)
                               : interview(interview_legacy, gateway, tool, token),
                    expected(token));
        }
      });
    }
    for (auto& client : clients)
      client.join();
    for (const auto& upstream : upstreams)
      EXPECT_EQ(upstream->runs, (wave + 1) * kClients);
    EXPECT_EQ(gateway.gateway.service().parked().size(), 0U);
    wait_until([&] { return gateway.gateway.endpoint().sessions().size() == 0; });
    if (wave == 1) warm = resident_bytes();
  }
  // Sanitizers keep freed memory.
  if (!kSanitized) {
    EXPECT_LT(resident_bytes(), warm + kGrowth);
  }
}

}  // namespace
}  // namespace proteus::gateway
