-- Locks the licences of a batch. Whatever gives, frees or deletes a seat, or writes the log, holds this.
-- Parameters: $1 id[]; each once
-- Lock order: licences ascending, in this one statement, before seats, tickets and the log
select 1 from tenure.licenses where id = any ($1::uuid[]) order by id for no key update
