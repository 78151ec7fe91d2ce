-- What begins threads of the chat: messages, statuses and files. SQLite makes a table for each row that it holds
-- against a list of three, so the kinds are compared one by one.
drop index messages_roots;
create index messages_roots on messages (room_id, sent, id)
    where thread_root = id and (event = 0 or event = 2 or event = 3);
