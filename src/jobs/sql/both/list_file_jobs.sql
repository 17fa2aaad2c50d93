-- Jobs that the configuration file has made. Result: tenant, name
select tenant, name from tenure.jobs where origin = 1 order by tenant, name
