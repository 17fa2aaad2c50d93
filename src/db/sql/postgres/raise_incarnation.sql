-- On each new connection: whether answered commits may have been forgotten. That is so when
--  - the system identifier or the timeline is not the stored one: a restored cluster, or a promoted standby;
--  - the oid of the database or of this table is not the stored one: a dump was put back;
--  - this process has seen more of the log than there is ($3): a base backup was put back on the same timeline;
--  - this process has seen a higher incarnation ($4): a copy that was put back before, or a primary that was left for
--    a standby and is used again. The new one is above it, so that no fence is given twice.
-- The operator may have said that a promoted standby has lost nothing ($2): then a new timeline alone raises the
-- incarnation and freezes nothing.
--
-- Compares and raises in one statement: of several processes that notice the row lock lets one raise it, and the others
-- then find nothing to change (their WHERE is evaluated again after the wait). What only this process knows ($3) it
-- raises in any case; several that do so raise it more than once, which does no harm.
-- Parameters: $1 freeze_ms, $2 1: a promoted standby has lost nothing, $3 1: the log is behind what was seen,
-- $4 the highest incarnation that this process has seen (0: none)
-- Result: incarnation, and 1 where it was raised (0: the very first look, which only notes who the store is); no row
-- when nothing has changed
-- Lock order: this row only
with current as (
  select (select system_identifier from pg_control_system())::text as cluster,
         substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) as timeline,
         (select oid from pg_database where datname = current_database()) || '/' || 'tenure.store'::regclass::oid as place),
judged as (
  select current.cluster || '/' || current.timeline as identity, current.place,
         before.identity <> '' and split_part(before.identity, '/', 2) <> current.timeline as promoted,
         (before.identity <> '' and split_part(before.identity, '/', 1) <> current.cluster)
           or (before.place <> '' and before.place <> current.place) or $3::int = 1
           or before.incarnation < $4::bigint as restored
    from current, tenure.store before)
update tenure.store s
   set identity = judged.identity, place = judged.place,
       incarnation = case when judged.promoted or judged.restored then greatest(s.incarnation, $4::bigint) + 1
                          else s.incarnation end,
       -- The clock before the wait is right here: only others who raise it are waited for.
       incarnation_ms = case when judged.restored or (judged.promoted and $2::int = 0)
                             then floor(extract(epoch from clock_timestamp()) * 1000)::bigint else s.incarnation_ms end,
       freeze_ms = $1::bigint
  from judged
 where s.identity <> judged.identity or s.place <> judged.place or $3::int = 1
    or s.incarnation < $4::bigint
returning s.incarnation::text, (judged.promoted or judged.restored)::int::text
