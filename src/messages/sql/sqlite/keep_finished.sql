-- Writes down what was finished, for a topic that keeps it. ?1 id, ?2 topic_id, ?3 enqueued_ms, ?4 fence, ?5 attempts,
-- ?6 crashes, ?7 correlation_id, ?8 output, ?9 forget_ms, ?10 now_ms
insert or ignore into finished_messages (id, topic_id, finished_ms, forget_ms, enqueued_ms, fence, attempts, crashes,
                                         correlation_id, output)
values (?1, ?2, ?10, ?9, ?3, ?4, ?5, ?6, ?7, ?8)
