-- Removes deliveries whose window is over. ?1 received before this ms, ?2 how many at most. Result: 1 for each
delete from webhook_deliveries
 where (source, hook, delivery_id) in (select source, hook, delivery_id from webhook_deliveries
                                        where received_ms < ?1 order by received_ms limit ?2)
returning 1
