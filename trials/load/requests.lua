-- The requests that wrk sends, all of one kind. `submit` continues one run per connection, from version to
-- version; the file that RUNS names lists the runs, one per line.
local kind = os.getenv("KIND")
local owner = "Bearer " .. (os.getenv("TOKEN") or "")
local json = { ["content-type"] = "application/json", ["authorization"] = owner }
local count = 0

function setup(thread)
  thread:set("number", count)
  count = count + 1
end

function init(args)
  if kind == "submit" then
    local at = 0
    for line in io.lines(os.getenv("RUNS")) do
      if at == number then run, version = line:match("(%S+) (%d+)") end
      at = at + 1
    end
  end
  words = { "heron", "delivery", "contract", "garden", "invoice", "Tuesday", "warehouse", "price" }
  turn = number * 7919
end

function request()
  turn = turn + 1
  if kind == "health" then return wrk.format("GET", "/v1/health") end
  if kind == "admit" then
    local body = '{"text":"{\\"facts\\":[{\\"key\\":\\"city\\",\\"value\\":\\"Rome\\",\\"event\\":\\"e1\\",\\"quote\\":\\"I moved to Rome.\\",\\"confidence\\":0.8,\\"preference\\":false}],\\"insights\\":[]}"}'
    return wrk.format("POST", "/v1/contracts/memory_candidates_v1/admit", json, body)
  end
  if kind == "start" then
    return wrk.format("POST", "/v1/runs", json, '{"protocol":"desk","workflow":"ask"}')
  end
  if kind == "compose" then
    local word = words[turn % #words + 1]
    local body = '{"user":"ann","agent":"helper","message":"What about the ' .. word .. '?","tokens":600}'
    return wrk.format("POST", "/v1/memory/compose", json, body)
  end
  local headers = { ["content-type"] = "application/json", ["authorization"] = owner, ["if-match"] = '"' .. version .. '"' }
  local text = '{\\"text\\":\\"note ' .. turn .. '\\",\\"tags\\":[\\"a\\"]}'
  return wrk.format("POST", "/v1/runs/" .. run .. "/submit", headers, '{"text":"' .. text .. '"}')
end

function response(status, headers, body)
  if kind == "submit" then
    local found = body:match('"version":(%d+)')
    if found then version = found end
  end
  if status >= 300 and not told then
    told = true
    io.stderr:write(status .. " " .. body:sub(1, 300) .. "\n")
  end
end

function done(summary, latency)
  io.write(string.format("FIGURES %d %d %d %.3f %.3f %.3f\n", summary.requests, summary.errors.status,
    summary.duration, latency:percentile(50) / 1000, latency:percentile(95) / 1000, latency:percentile(99) / 1000))
end
