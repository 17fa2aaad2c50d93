-- Who this store is. Result: installation, incarnation, identity
select installation::text, incarnation::text, identity from tenure.store
