-- Gives a transaction up.
rollback
