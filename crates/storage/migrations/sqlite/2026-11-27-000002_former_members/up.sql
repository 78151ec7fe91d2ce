-- Who has left a flow, so that what such users wrote still has their names.
create table former_members (
    room_id integer not null references rooms (id),
    user_id integer not null references users (id),
    primary key (room_id, user_id)
) without rowid;
insert into former_members (room_id, user_id)
select distinct messages.room_id, messages.user_id
from messages
join flows on flows.room_id = messages.room_id
join users on users.id = messages.user_id
where not exists (
    select 1
    from room_members
    where room_members.room_id = messages.room_id and room_members.user_id = messages.user_id
);
