-- The mark of a file that many processes share, with each commit that changes something. It belongs to one boot of one
-- machine: where another one has taken the file over, nothing is changed and the transaction must be given up.
-- Parameters: ?1 now_ms, ?2 boot_ms, ?3 boot_id
-- Result: 1, when the file is still this boot's
update clock_mark set now_ms = ?1, boot_ms = ?2 where boot_id = ?3 returning 1
