-- As on SQLite, which makes a temporary table for each row that an index with `in` is asked about. Built under
-- another name first, so that reads go on meanwhile.
create index messages_roots_new on messages (room_id, sent, id)
    where thread_root = id and (event = 0 or event = 2 or event = 3);
drop index messages_roots;
alter index messages_roots_new rename to messages_roots;
