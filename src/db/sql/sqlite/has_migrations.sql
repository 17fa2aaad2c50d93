-- Whether this store was ever set up. Result: 1 or 0
select count(*) from sqlite_master where type = 'table' and name = 'migrations'
