-- Who this store is. Result: installation, incarnation, identity
select installation, incarnation, identity from store
