-- How many records came again with other content.
-- Result: conflicts
select count(*) from conflicts
