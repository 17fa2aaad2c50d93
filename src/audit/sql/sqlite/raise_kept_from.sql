-- The retention's mark: what happened before ?1 may be removed now.
update audit_bounds set kept_from_ms = ?1 where kept_from_ms < ?1
