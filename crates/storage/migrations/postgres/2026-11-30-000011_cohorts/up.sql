-- The users whom mentions of groups and of everyone address. Messages of a room that address the same
-- users share a row.
create table cohorts (
    room_id bigint not null,
    -- Made from the digest.
    id bigint not null,
    -- The SHA-256 of the users.
    digest bytea not null,
    -- The numbers of the users, with a comma before each and behind the last.
    users text not null,
    primary key (room_id, id)
);

-- From here on the user of a mention is a cohort where the number is below 0, that of the
-- cohort negated. 0 still stands for everyone in messages of earlier versions.
create index mentions_of_cohorts on mentions (room_id, message_id) where not user_id > 0;
