-- Keeps an answer with the effect that it tells of. Parameters: ?1 name, ?2 status, ?3 body, ?4 location
update answers set status = ?2, body = ?3, location = ?4 where name = ?1
