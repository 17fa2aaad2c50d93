-- How often the store may have forgotten commits (spec 05). Result: incarnation
select incarnation from tenure.store
