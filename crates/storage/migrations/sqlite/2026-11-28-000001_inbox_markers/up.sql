-- Up to where the user has read the inbox of a flow; `read_up_to` is that of the chat.
alter table room_members add column inbox_read_up_to bigint not null default 0;
update room_members set inbox_read_up_to = read_up_to;

-- Threads that were read further than the inbox.
create table thread_markers (
    room_id bigint not null,
    user_id bigint not null,
    root_id bigint not null,
    read_up_to bigint not null,
    primary key (room_id, user_id, root_id)
) without rowid;
