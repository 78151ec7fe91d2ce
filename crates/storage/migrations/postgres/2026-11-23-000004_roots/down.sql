drop index messages_roots;
create index messages_roots on messages (room_id, sent, id)
    where thread_root = id and event in (0, 2, 3);
