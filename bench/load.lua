-- Sends the same request every time: without a request() function, wrk builds it once. BENCH_BODY is the file with the
-- body, BENCH_HEADERS the file with one header per line. BENCH_IDS is the number of request ids that take turns; more
-- than one is needed for sessions, where concurrent requests must have different ids.
local body = assert(io.open(os.getenv("BENCH_BODY"), "rb"))
wrk.method = "POST"
wrk.body = body:read("*a")
body:close()
for line in io.lines(os.getenv("BENCH_HEADERS")) do
  local name, value = line:match("^([^:]+): (.*)$")
  wrk.headers[name] = value
end

local ids = tonumber(os.getenv("BENCH_IDS"))
if ids > 1 then
  local requests, turn = {}, 0
  function init()
    for i = 1, ids do
      requests[i] = wrk.format(nil, nil, nil, (wrk.body:gsub('"id":1,', '"id":' .. 1000 + i .. ",", 1)))
    end
  end
  function request()
    turn = turn % ids + 1
    return requests[turn]
  end
end

function done(summary, latency)
  local errors = summary.errors
  io.stderr:write(string.format(
    '{"requests":%d,"seconds":%.6f,"bytes":%d,"errors":%d,"p50_us":%d,"p99_us":%d}\n',
    summary.requests, summary.duration / 1e6, summary.bytes,
    errors.connect + errors.read + errors.write + errors.status + errors.timeout,
    latency:percentile(50), latency:percentile(99)))
end
