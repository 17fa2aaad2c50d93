-- The clock's high-water mark. Result: now_ms, boot_ms, boot_id
select now_ms, boot_ms, boot_id from clock_mark
