-- The requests of a modern-era client, the same bytes every time: without a request() function wrk builds them once.
-- BENCH_BODY names the file with the body, BENCH_METHOD and BENCH_NAME what the headers repeat of it,
-- BENCH_TOKEN who asks.
local body = assert(io.open(os.getenv("BENCH_BODY"), "rb"))
wrk.method = "POST"
wrk.body = body:read("*a")
body:close()
wrk.headers["Content-Type"] = "application/json"
wrk.headers["Accept"] = "application/json, text/event-stream"
wrk.headers["MCP-Protocol-Version"] = "2026-07-28"
wrk.headers["Mcp-Method"] = os.getenv("BENCH_METHOD")
if os.getenv("BENCH_TOKEN") ~= "" then wrk.headers["Authorization"] = "Bearer " .. os.getenv("BENCH_TOKEN") end
if os.getenv("BENCH_NAME") ~= "" then wrk.headers["Mcp-Name"] = os.getenv("BENCH_NAME") end

function done(summary, latency)
  local errors = summary.errors
  io.stderr:write(string.format(
    '{"requests":%d,"seconds":%.6f,"bytes":%d,"errors":%d,"p50_us":%d,"p99_us":%d}\n',
    summary.requests, summary.duration / 1e6, summary.bytes,
    errors.connect + errors.read + errors.write + errors.status + errors.timeout,
    latency:percentile(50), latency:percentile(99)))
end
