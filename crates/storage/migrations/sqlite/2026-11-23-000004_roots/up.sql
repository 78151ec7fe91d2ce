-- What begins threads of the chat: messages, statuses and files. For `in` with three values SQLite builds a temporary
-- table for each row that is inserted, so the kinds are compared one by one.
drop index messages_roots;
create index messages_roots on messages (room_id, sent, id)
    where thread_root = id and (event = 0 or event = 2 or event = 3);
