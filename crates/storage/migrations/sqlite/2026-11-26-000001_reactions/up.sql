-- Who reacted to which message, one row for each emoji of a user.
create table reactions (
    room_id bigint not null,
    message_id bigint not null,
    emoji text not null,
    user_id bigint not null,
    -- Orders the reactions to a message; an earlier one has a lower number.
    position bigint not null,
    primary key (room_id, message_id, emoji, user_id)
) without rowid;
