-- The store's incarnation: new fences start above all of earlier ones. Result: incarnation
-- Locks: none
select incarnation from tenure.store
