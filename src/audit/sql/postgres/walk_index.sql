-- Has the lists that follow in this transaction go along an index until their limit. A generic plan knows neither the limit
-- nor the times and expects one row: left to itself it reads and sorts all that fits, a second for a million entries.
select set_config('enable_bitmapscan', 'off', true) || set_config('enable_sort', 'off', true) as settings
