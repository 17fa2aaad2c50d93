-- What the generations of a queue have. ?1 queue_id
-- Result: generation, messages, bytes, ready, held, parked; by generation
select generation, sum(messages), sum(bytes), sum(ready), sum(held), sum(parked)
  from queue_counters where queue_id = ?1 group by generation order by generation
