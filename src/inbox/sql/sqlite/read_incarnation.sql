-- The store's incarnation: new fences start above all of earlier ones. Result: incarnation
select incarnation from store
