-- As on SQLite, where `in` with three values builds a temporary table for each row that is inserted.
drop index messages_roots;
create index messages_roots on messages (room_id, sent, id)
    where thread_root = id and (event = 0 or event = 2 or event = 3);
