-- What ties an application to a flow.
create table sources (
    id integer primary key autoincrement not null,
    room_id integer not null references rooms (id),
    application_id integer references applications (id),
    name text not null,
    external_url text,
    configuration_url text,
    error_message text,
    creator_id integer references users (id),
    created_at bigint not null,
    updated_at bigint not null,
    -- A removed source stays, so that its token is refused for what it was.
    removed_at bigint
);
create index sources_room on sources (room_id);
create index sources_application on sources (application_id);
create index sources_creator on sources (creator_id);

-- Without a source the token is the flow's own.
alter table flow_tokens add column source_id integer references sources (id);
create index flow_tokens_source on flow_tokens (source_id);

-- Threads of the chat (origin 0) have a row once somebody answered, those of the inbox (1) from their
-- beginning. Source 0 is the flow's own token.
alter table threads add column origin smallint not null default 0;
alter table threads add column source_id bigint;
alter table threads add column application_id bigint;
alter table threads add column external_id text;
-- The message that brought the state in which the outside item is.
alter table threads add column item_id bigint;
-- States of outside items, as they go out, by the messages that brought them.
create table thread_items (
    room_id bigint not null,
    message_id bigint not null,
    item text not null,
    primary key (room_id, message_id)
);
-- How the message left its thread, if that has a row: the message that brought the item's state (0 for
-- none), activities, internal and external comments, and the time of the last change.
alter table messages add column thread_left text;
create unique index threads_external on threads (room_id, source_id, external_id)
    where external_id is not null;
create index threads_time on threads (room_id, origin, updated_at, root_id);
create index threads_application on threads (room_id, application_id, updated_at, root_id)
    where application_id is not null;
-- What begins threads of the chat: messages, statuses and files.
create index messages_roots on messages (room_id, sent, id)
    where thread_root = id and event in (0, 2, 3);

-- Bytes of files, under random keys: 0 being written, 1 kept, 2 to be thrown away. Equal bytes are kept
-- once.
create table objects (
    object_key text primary key not null,
    digest blob,
    size bigint not null,
    state smallint not null,
    -- The process that writes it.
    node text not null,
    touched_at bigint not null
) without rowid;
create unique index objects_digest on objects (digest) where state = 1;
create index objects_loose on objects (state) where state <> 1;

create table files (
    id text primary key not null,
    room_id integer not null,
    message_id bigint not null,
    position smallint not null,
    name text not null,
    content_type text not null,
    size bigint not null,
    object_key text not null references objects (object_key),
    width bigint,
    height bigint,
    thumbnail_key text references objects (object_key),
    thumbnail_width bigint,
    thumbnail_height bigint
) without rowid;
create index files_message on files (room_id, message_id);
create index files_object on files (object_key);
create index files_thumbnail on files (thumbnail_key) where thumbnail_key is not null;
