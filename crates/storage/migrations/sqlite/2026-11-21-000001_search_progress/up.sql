-- How far each room's messages are in the index of words, which follows the messages.
create table search_progress (
    room_id integer primary key not null references rooms (id),
    message_id bigint not null
);
insert into search_progress (room_id, message_id) select id, last_message_id from rooms;
