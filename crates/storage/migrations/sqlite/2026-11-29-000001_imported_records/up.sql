-- What records of other archives became here, so that an import that is repeated adds nothing twice.
create table imported_records (
    organization_id bigint not null,
    -- The kind of archive: eddyline, slack, mattermost.
    source text not null,
    -- 0 a user, 1 a room, 2 a message, 3 a room of which everything was imported
    kind smallint not null,
    -- The room of a message; 0 for all else.
    room_id bigint not null,
    -- What the archive calls the record.
    foreign_id text not null,
    -- The number of the record here; that of a message is its number in the room.
    local_id bigint not null,
    primary key (organization_id, source, kind, room_id, foreign_id)
) without rowid;
