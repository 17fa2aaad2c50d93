-- Begins a look: one snapshot for all statements of a batch, and one round of lock calls instead of one per item.
begin deferred
