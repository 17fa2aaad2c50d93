-- How many claims are overdue for long, for the gauge. ?1 overdue since this ms. Result: count
select count(*) from inbox where state = 1 and lease_until_ms < ?1
