-- The retention's mark: what happened before $1 may be removed now.
-- Lock order: audit_bounds, before the audit's rows
update tenure.audit_bounds set kept_from_ms = $1::bigint where kept_from_ms < $1::bigint
