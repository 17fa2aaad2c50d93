-- Chunks that the receiver is to acknowledge.
-- Parameters: $1 number[], $2 chunk[], $3 first_id[], $4 last_id[], $5 records[], $6 format[]
-- Lock order: under the lock of advance_window.sql or delete_chunks.sql
insert into tenure.usage_chunks (number, chunk, first_id, last_id, records, format, refused_ms, answer)
select number, chunk, first_id, last_id, records, format, 0, ''
  from unnest($1::bigint[], $2::text[], $3::uuid[], $4::uuid[], $5::bigint[], $6::bigint[])
       as item (number, chunk, first_id, last_id, records, format)
