-- A script for wrk: sends list requests, each with a new opaque token that ends with the number of the request. Stops
-- after BENCH_SUBJECTS tokens.
local subjects = tonumber(os.getenv("BENCH_SUBJECTS"))
local body = io.open(os.getenv("BENCH_BODY")):read("*a")
local headers = {}
for line in io.lines(os.getenv("BENCH_HEADERS")) do
  local name, value = line:match("^([^:]+): (.*)$")
  headers[name] = value
end
local sent, answered = 0, 0

function request()
  sent = sent + 1
  headers["Authorization"] = "Bearer subject-" .. math.min(sent, subjects)
  return wrk.format("POST", nil, headers, body)
end

function response()
  answered = answered + 1
  if answered > subjects then wrk.thread:stop() end
end

function done(summary)
  io.stderr:write(string.format('{"requests":%d}\n', summary.requests))
end
