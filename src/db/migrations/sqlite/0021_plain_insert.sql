-- oldest program: 0.1.0
-- A trigger that may refuse makes SQLite keep a journal of its own for each row that is inserted: half of what enqueueing a
-- message cost. On this engine every message comes through the program, which looks at its times before, and a row that
-- somebody wrote by hand is bounded where it is read.
drop trigger if exists messages_due_ms_of_new;
drop trigger if exists messages_due_ms_of_changed;
