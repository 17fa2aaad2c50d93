-- The settings that all processes of an ensemble share. Result: name, value
select name, value from settings order by name
