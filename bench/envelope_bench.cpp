// What the envelope costs on the request path: scan, decode, splice, and the frame of a result.
#include <string>
#include <string_view>

#include <benchmark/benchmark.h>

#include "instructions.hpp"
#include "json/message.hpp"
#include "json/splice.hpp"
#include "mcp/jsonrpc.hpp"
#include "mcp/request.hpp"

namespace proteus {
namespace {

// A call as a modern client writes it: metadata, a name, and arguments that fill it up to `bytes`.
std::string tools_call(std::size_t bytes) {
  std::string text =
      R"({"jsonrpc":"2.0","id":4711,"method":"tools/call","params":{"name":"banking_list_transactions","_meta":{)"
      R"("io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
      R"("io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1.0.0"},)"
      R"("io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{},"url":{}}},)"
      R"("progressToken":17,"traceparent":"00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01"},)"
      R"("arguments":{"account":"DE89 3704 0044 0532 0130 00","limit":50,"filters":[)";
  const std::string_view tail = "]}}}";
  const std::string_view filter =
      R"({"field":"amount","operator":"greater","value":1250.5,"nested":{"any":[true,false,null]}},)";
  while (text.size() + filter.size() + tail.size() <= bytes)
    text += filter;
  if (text.ends_with(',')) text.pop_back();
  return text.append(tail);
}

void scan_tools_call(benchmark::State& state) {
  const std::string text = tools_call(static_cast<std::size_t>(state.range(0)));
  const bench::Instructions instructions;
  for (auto _ : state) {
    auto message = json::scan(text);
    benchmark::DoNotOptimize(message);
  }
  instructions.report(state);
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
}
BENCHMARK(scan_tools_call)->Arg(1024)->Arg(std::int64_t{64} * 1024);

void decode_modern_call(benchmark::State& state) {
  const std::string text = tools_call(1024);
  auto message = json::scan(text);
  const mcp::HeaderLookup lookup = [](std::string_view name) -> std::optional<std::string_view> {
    if (name == mcp::header::kProtocolVersion) return "2026-07-28";
    if (name == mcp::header::kMethod) return "tools/call";
    if (name == mcp::header::kName) return "banking_list_transactions";
    return std::nullopt;
  };
  const bench::Instructions instructions;
  for (auto _ : state) {
    auto request = mcp::modern::decode(*message, lookup, {});
    if (!request) state.SkipWithError("the request is refused");
    benchmark::DoNotOptimize(request);
  }
  instructions.report(state);
}
BENCHMARK(decode_modern_call);

void splice_id_and_name(benchmark::State& state) {
  const std::string text = tools_call(1024);
  const auto message = json::scan(text);
  const bench::Instructions instructions;
  for (auto _ : state) {
    json::Splice splice(text);
    splice.replace(message->id, "90125");
    splice.replace(message->body.value("name"), "\"list_transactions\"");
    benchmark::DoNotOptimize(splice.pieces());
  }
  instructions.report(state);
}
BENCHMARK(splice_id_and_name);

void frame_result(benchmark::State& state) {
  mcp::Reply reply;
  reply.members = mcp::Payload(R"("content":[{"type":"text","text":"42"}])");
  const mcp::MethodInfo& method = *mcp::find_method(mcp::Era::modern, mcp::Sender::client, "resources/read");
  const mcp::ResultStyle style{mcp::Era::modern, R"({"name":"proteus","version":"0.1.0"})"};
  const bench::Instructions instructions;
  for (auto _ : state) {
    auto frame = mcp::frame_result("4711", method, reply, style);
    benchmark::DoNotOptimize(frame);
  }
  instructions.report(state);
}
BENCHMARK(frame_result);

}  // namespace
}  // namespace proteus

BENCHMARK_MAIN();
