-- Chunks that the receiver is to acknowledge.
-- Parameters: ?1 number, ?2 chunk, ?3 first_id, ?4 last_id, ?5 records, ?6 format
-- Lock order: under the lock of advance_window.sql or delete_chunks.sql
insert into usage_chunks (number, chunk, first_id, last_id, records, format, refused_ms, answer)
values (?1, ?2, ?3, ?4, ?5, ?6, 0, '')
