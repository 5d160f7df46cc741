-- A script for wrk: each request registers a new tool session with one tool. BENCH_BODY is the file with the body, in
-- which NUMBER is replaced by a different text for each request; BENCH_PREFIX makes it different for each run.
local prefix = os.getenv("BENCH_PREFIX")
local file = assert(io.open(os.getenv("BENCH_BODY"), "rb"))
local body = file:read("*a")
file:close()
local headers = { ["X-Admin-Secret"] = os.getenv("BENCH_SECRET"), ["Content-Type"] = "application/json" }
local sent = 0

function request()
  sent = sent + 1
  return wrk.format("POST", nil, headers, (body:gsub("NUMBER", prefix .. sent)))
end

function done(summary, latency)
  local errors = summary.errors
  io.stderr:write(string.format('{"requests":%d,"seconds":%.6f,"errors":%d,"p50_us":%d,"p99_us":%d}\n',
    summary.requests, summary.duration / 1e6,
    errors.connect + errors.read + errors.write + errors.status + errors.timeout,
    latency:percentile(50), latency:percentile(99)))
end
