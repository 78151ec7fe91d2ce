-- Times are milliseconds since 1970-01-01 UTC.

create table settings (
    name text primary key not null,
    value blob not null
);

create table organizations (
    id integer primary key autoincrement not null,
    name text not null,
    parameterized_name text not null unique,
    user_limit integer not null,
    active boolean not null default true,
    parent_id integer references organizations (id),
    created_at integer not null
);

create table users (
    id integer primary key autoincrement not null,
    email text not null,
    email_key text not null unique,
    name text not null,
    nick text not null,
    website text not null default '',
    avatar text not null,
    status text,
    bot boolean not null default false,
    password_hash text,
    created_at integer not null
);

create table organization_members (
    organization_id integer not null references organizations (id),
    user_id integer not null references users (id),
    -- Nicks are unique within an organization, so the key stands here too.
    nick_key text not null,
    admin boolean not null default false,
    created_at integer not null,
    primary key (organization_id, user_id),
    unique (organization_id, nick_key)
) without rowid;
create index organization_members_user on organization_members (user_id);

create table api_tokens (
    hash blob primary key not null,
    user_id integer not null references users (id),
    name text not null,
    created_at integer not null
) without rowid;
create index api_tokens_user on api_tokens (user_id);

-- A room is what messages belong to: a flow (kind 0) or a private conversation (kind 1).
create table rooms (
    id integer primary key autoincrement not null,
    kind smallint not null,
    last_message_id bigint not null default 0,
    last_message_at bigint,
    access_version bigint not null default 0
);

create table flows (
    room_id integer primary key not null references rooms (id),
    public_id text not null unique,
    organization_id integer not null references organizations (id),
    name text not null,
    parameterized_name text not null,
    description text,
    access_mode smallint not null,
    disabled boolean not null default false,
    creator_id integer references users (id),
    join_secret text not null,
    created_at integer not null,
    unique (organization_id, parameterized_name)
);

create table flow_tokens (
    hash blob primary key not null,
    room_id integer not null references rooms (id),
    created_at integer not null
) without rowid;

create table room_members (
    room_id integer not null references rooms (id),
    user_id integer not null references users (id),
    open boolean not null default true,
    blocked boolean not null default false,
    last_activity bigint not null default 0,
    last_ping bigint not null default 0,
    read_up_to bigint not null default 0,
    primary key (room_id, user_id)
) without rowid;
create index room_members_user on room_members (user_id);

create table messages (
    room_id bigint not null,
    id bigint not null,
    event smallint not null,
    user_id bigint,
    external_user_name text,
    content text not null,
    tags text not null,
    explicit_tags text not null,
    uuid text,
    fingerprint bigint not null,
    sent bigint not null,
    edited bigint,
    thread_root bigint,
    parent_id bigint,
    primary key (room_id, id)
) without rowid;
create unique index messages_uuid on messages (room_id, uuid) where uuid is not null;
-- Answers only: a message that begins a thread is found by its own id.
create index messages_answers on messages (room_id, thread_root, id) where thread_root <> id;
create index messages_parent on messages (room_id, parent_id, id) where parent_id is not null;

-- Chat is nearly everything, so the kind of every other message stands here as well, under a name
-- that no tag can have: whoever asks for such messages should not read past the chat.
create table message_tags (
    room_id bigint not null,
    tag text not null,
    message_id bigint not null,
    primary key (room_id, tag, message_id)
) without rowid;

-- Who is mentioned; user 0 stands for everyone but the sender.
create table mentions (
    room_id bigint not null,
    user_id bigint not null,
    message_id bigint not null,
    sender_id bigint not null,
    primary key (room_id, user_id, message_id)
) without rowid;

-- Mentions of everyone that a user has dealt with one by one.
create table mentions_seen (
    room_id bigint not null,
    user_id bigint not null,
    message_id bigint not null,
    primary key (room_id, user_id, message_id)
) without rowid;

-- Threads that somebody answered.
create table threads (
    room_id bigint not null,
    root_id bigint not null,
    activities bigint not null,
    internal_comments bigint not null,
    external_comments bigint not null,
    created_at bigint not null,
    updated_at bigint not null,
    primary key (room_id, root_id)
) without rowid;

-- Words come ready from the server's own tokeniser; this one only splits them at the spaces.
-- The row is room << 32 | message, so that a range of rows is a room.
create virtual table message_search using fts5 (
    words, content = '', contentless_delete = 1, detail = none, tokenize = "ascii tokenchars '_'"
);

-- Everything that happened, in commit order.
create table event_log (
    seq integer primary key not null,
    check_value bigint not null,
    kind smallint not null,
    room_id bigint,
    message_id bigint,
    user_id bigint,
    created_at bigint not null
);
create index event_log_room on event_log (room_id, seq) where room_id is not null;
create index event_log_user on event_log (user_id, seq) where user_id is not null;
-- Changes of users are for everybody who shares a flow with them; they are rare.
create index event_log_user_edit on event_log (kind, seq) where kind = 5;

-- Updated last in every writing transaction and held until its commit: that makes the order of
-- the numbers the order of the commits.
create table log_clock (
    id smallint primary key not null check (id = 1),
    sequence bigint not null
);
insert into log_clock (id, sequence) values (1, 0);

-- The last batch each writer committed, for the case that the answer to a commit got lost.
create table writers (
    id text primary key not null,
    batch bigint not null
);

-- Processes that serve, and how far each has read the log.
create table nodes (
    id text primary key not null,
    heartbeat bigint not null,
    seq_read bigint not null
);
