-- Sessions that come back start above those that are gone. Parameters: $1 queue_id, $2 fence, $3 sequence
-- Lock order: queues ascending, after their sessions
update tenure.queues
   set floor_fence = case when floor_fence < $2::bigint then $2::bigint else floor_fence end,
       floor_sequence = case when floor_sequence < $3::bigint then $3::bigint else floor_sequence end
 where queue_id = $1::bigint
