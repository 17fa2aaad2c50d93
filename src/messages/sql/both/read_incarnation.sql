-- How often the store may have forgotten commits (docs/ground.md, Incarnation). Result: incarnation
select incarnation from tenure.store
