-- A shared file's first process of a boot fixes the clock for all: now is boot_ms + (now_ms - boot_ms) from here on.
-- Parameters: ?1 now_ms, ?2 boot_ms, ?3 boot_id
update clock_mark set now_ms = cast(?1 as integer), boot_ms = cast(?2 as integer), boot_id = ?3
