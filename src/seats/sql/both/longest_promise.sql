-- The longest ttl and grace that any licence ever had. Result: ms
-- Locks: none
select coalesce(max(longest_ms), 0) from tenure.licenses
