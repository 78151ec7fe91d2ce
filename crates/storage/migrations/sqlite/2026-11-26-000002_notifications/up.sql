-- What users have chosen to be notified of, where that is not the default.
create table notification_settings (
    user_id integer primary key not null references users (id),
    -- 0 nothing, 1 mentions, 2 all
    level smallint not null,
    shows_text boolean not null,
    -- Minutes since midnight; all three are set or none.
    quiet_from smallint,
    quiet_until smallint,
    zone text
);

-- What users have chosen for one flow in place of that.
create table notification_levels (
    room_id bigint not null,
    user_id bigint not null,
    level smallint not null,
    primary key (room_id, user_id)
) without rowid;

-- Browsers that take push messages, until their sessions end.
create table push_subscriptions (
    session_hash blob primary key not null references sessions (hash) on delete cascade,
    user_id integer not null references users (id),
    -- The address of the browser's push service. A browser has one, so signing in as another user moves it.
    endpoint text not null unique,
    p256dh blob not null,
    auth blob not null,
    created_at bigint not null
) without rowid;
create index push_subscriptions_user on push_subscriptions (user_id);

-- Push messages that wait to be sent.
create table pushes (
    id integer primary key autoincrement not null,
    session_hash blob not null references push_subscriptions (session_hash) on delete cascade,
    room_id bigint not null,
    message_id bigint not null,
    attempts bigint not null,
    due_at bigint not null,
    created_at bigint not null
);
create index pushes_due on pushes (due_at, id);
create index pushes_session on pushes (session_hash);
