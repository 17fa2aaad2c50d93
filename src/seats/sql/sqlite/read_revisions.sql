-- The revision of a licence. ?1 license_id
-- Result: revision
select revision from licenses where id = ?1
