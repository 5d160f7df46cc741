-- For wrk: each request registers a tool session of its own with one tool. BENCH_BODY names the file with the body, in
-- which NUMBER stands for what is another each time; BENCH_PREFIX makes it another for each run.
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
