// Measures the envelope on the request path: scan, decode, splice, and the frame of a result. `tree`, which parses the
// same bytes into a tree, is the work that the scan avoids.
#include <optional>
#include <string>
#include <string_view>

#include <boost/json/parse.hpp>

#include "bench.hpp"
#include "json/message.hpp"
#include "json/splice.hpp"
#include "mcp/jsonrpc.hpp"
#include "mcp/request.hpp"

namespace proteus {
namespace {

// Returns a call as a modern client writes it: metadata, a name, a text, and structured arguments up to `bytes` in all.
std::string tools_call(std::size_t bytes) {
  std::string text =
      R"({"jsonrpc":"2.0","id":4711,"method":"tools/call","params":{"name":"banking_list_transactions","_meta":{)"
      R"("io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
      R"("io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1.0.0"},)"
      R"("io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{},"url":{}}},)"
      R"("progressToken":17,"traceparent":"00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01"},)"
      R"("arguments":{"account":"DE89 3704 0044 0532 0130 00","limit":50,)"
      R"("note":"Everything that was booked twice, with the reference of the payment it repeats.","filters":[)";
  const std::string_view tail = "]}}}";
  const std::string_view filter =
      R"({"field":"amount","operator":"greater","value":1250.5,"nested":{"any":[true,false,null]}},)";
  while (text.size() + filter.size() + tail.size() <= bytes)
    text += filter;
  if (text.ends_with(',')) text.pop_back();
  return text.append(tail);
}

void scan(benchmark::State& state, const std::string& text) {
  for (auto _ : state) {
    auto message = json::scan(text);
    benchmark::DoNotOptimize(message);
  }
}

void tree(benchmark::State& state, const std::string& text) {
  for (auto _ : state) {
    auto value = boost::json::parse(text);
    benchmark::DoNotOptimize(value);
  }
}

void decode(benchmark::State& state) {
  const std::string text = tools_call(1024);
  auto message = json::scan(text);
  const mcp::HeaderLookup lookup = [](std::string_view name) -> std::optional<std::string_view> {
    if (name == mcp::header::kProtocolVersion) return "2026-07-28";
    if (name == mcp::header::kMethod) return "tools/call";
    if (name == mcp::header::kName) return "banking_list_transactions";
    return std::nullopt;
  };
  for (auto _ : state) {
    auto request = mcp::modern::decode(*message, lookup, {});
    if (!request) state.SkipWithError("the request is refused");
    benchmark::DoNotOptimize(request);
  }
}

void splice(benchmark::State& state) {
  const std::string text = tools_call(1024);
  const auto message = json::scan(text);
  for (auto _ : state) {
    json::Splice change(text);
    change.replace(message->id, "90125");
    change.replace(message->body.value("name"), "\"list_transactions\"");
    benchmark::DoNotOptimize(change.pieces());
  }
}

void frame(benchmark::State& state) {
  mcp::Reply reply;
  reply.members = mcp::Payload(R"("content":[{"type":"text","text":"42"}])");
  const mcp::MethodInfo& method = *mcp::find_method(mcp::Era::modern, mcp::Sender::client, "resources/read");
  const mcp::ResultStyle style{mcp::Era::modern, R"({"name":"proteus","version":"0.1.0"})", {}};
  for (auto _ : state) {
    auto framed = mcp::frame_result("4711", method, reply, style);
    benchmark::DoNotOptimize(framed);
  }
}

}  // namespace
}  // namespace proteus

int main(int argc, char** argv) {
  using namespace proteus;
  benchmark::Initialize(&argc, argv);
  const std::string small = tools_call(1024);
  const std::string large = tools_call(std::size_t{64} * 1024);
  bench::add("scan/1 KB", [&](benchmark::State& state) { scan(state, small); });
  bench::add("tree/1 KB", [&](benchmark::State& state) { tree(state, small); });
  bench::add("scan/64 KB", [&](benchmark::State& state) { scan(state, large); });
  bench::add("tree/64 KB", [&](benchmark::State& state) { tree(state, large); });
  bench::add("modern decode", decode);
  bench::add("splice of id and name", splice);
  bench::add("frame of a result", frame);
  benchmark::RunSpecifiedBenchmarks();
}
