-- For wrk: a list with another opaque token each time, the number of the request; as long as there are tokens.
local subjects = tonumber(os.getenv("BENCH_SUBJECTS"))
local body = io.open(os.getenv("BENCH_BODY")):read("*a")
local headers = {}
for line in io.lines(os.getenv("BENCH_HEADERS")) do
  local name, value = line:match("^(.-): (.*)$")
  headers[name] = value
end
local number = 0

function request()
  number = math.min(number + 1, subjects)
  headers["Authorization"] = "Bearer subject-" .. number
  return wrk.format("POST", nil, headers, body)
end

function response(status)

  if number >= subjects then wrk.thread:stop() end
end

function done(summary)
  io.stderr:write(string.format('{"requests":%d}\n', summary.requests))
end
