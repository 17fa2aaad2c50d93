-- The POST of a pushed message, the same each time: what a receiver gets from Tenure.
local here = debug.getinfo(1, "S").source:match("^@(.*/)")
dofile(here .. "common.lua")

wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
wrk.headers["ce-specversion"] = "1.0"
wrk.headers["ce-id"] = "0197c1f2-8a34-7d10-9b55-3f0c2e6a7d81"
wrk.headers["ce-source"] = "/tenants/default/topics/orders"
wrk.headers["ce-type"] = "orders"
wrk.headers["ce-time"] = "2026-01-31T12:00:00.000Z"
wrk.headers["webhook-id"] = "0197c1f2-8a34-7d10-9b55-3f0c2e6a7d81"
wrk.headers["webhook-timestamp"] = "1769860800"
wrk.headers["webhook-signature"] = "v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4="
wrk.body = '{"order":7,"text":"' .. string.rep("x", 180) .. '"}'
