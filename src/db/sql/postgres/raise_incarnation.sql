-- On each new connection: a system identifier or timeline other than the stored one means that the database was
-- restored from a backup or a standby was promoted, and answered commits may be forgotten. Compares and raises in
-- one statement: of several processes that notice, the row lock lets one raise it, and the others then find
-- nothing to change (their WHERE is evaluated again after the wait).
-- Result: incarnation, and 1 where it was raised (0: the very first look, which only notes the identity); no row when
-- nothing has changed
-- Lock order: this row only
with current as (
  select (select system_identifier from pg_control_system()) || '/'
         || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) as identity
)
update tenure.store s
   set identity = current.identity,
       incarnation = s.incarnation + (s.identity <> '')::int,
       -- The clock before the wait is right here: only others who raise it are waited for.
       incarnation_ms = case s.identity when '' then s.incarnation_ms
                        else floor(extract(epoch from clock_timestamp()) * 1000)::bigint end
  from current, tenure.store before
 where s.identity <> current.identity
returning s.incarnation::text, (before.identity <> '')::int::text
