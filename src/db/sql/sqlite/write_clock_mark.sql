-- The clock's high-water mark, written with every commit. Parameters: ?1 now_ms, ?2 boot_ms, ?3 boot_id
-- Result: 1
update clock_mark set now_ms = ?1, boot_ms = ?2, boot_id = ?3 returning 1
