-- On another boot of the machine every holder is dead: ends all grants of a store that the processes of one host share.
-- ?1 now_ms as text
update leases set expires_ms = cast(?1 as integer)
 where term is not null and expires_ms > cast(?1 as integer)
