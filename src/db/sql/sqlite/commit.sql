-- Ends a transaction. Nothing is answered before this succeeded.
commit
