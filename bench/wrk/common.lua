-- With the token of the environment's BENCH_TOKEN, if it has one.
function authorize()
  local token = os.getenv("BENCH_TOKEN")
  if token then wrk.headers["Authorization"] = "Bearer " .. token end
end

-- What every script prints at its end, for bench/harness/clients.py.
function done(summary, latency)
  local e = summary.errors
  print(string.format(
    'RESULT {"requests": %d, "seconds": %.6f, "rate": %.1f, "p50_us": %d, "p99_us": %d, ' ..
    '"errors": {"connect": %d, "read": %d, "write": %d, "timeout": %d, "status": %d}}',
    summary.requests, summary.duration / 1e6, summary.requests / (summary.duration / 1e6),
    latency:percentile(50), latency:percentile(99),
    e.connect, e.read, e.write, e.timeout, e.status))
end
