-- Organizations and users that are to be deleted.
create table pending_deletions (
    -- 0 an organization, 1 a user
    scope smallint not null,
    target_id bigint not null,
    -- Who requested it, in the words of the audit log.
    requested_by text not null,
    requested_at bigint not null,
    due_at bigint not null,
    begun_at bigint,
    -- Whether the organization or the user was active before.
    was_active boolean not null,
    primary key (scope, target_id)
);

-- The members of organizations that are to be deleted. They are no members until the deletion is
-- cancelled, so that no query lets them in.
create table closed_members (
    organization_id bigint not null references organizations (id),
    user_id bigint not null references users (id),
    nick_key text not null,
    admin boolean not null,
    created_at bigint not null,
    primary key (organization_id, user_id),
    unique (organization_id, nick_key)
);
create index closed_members_user on closed_members (user_id);

-- The same of the flows of these organizations.
create table closed_room_members (
    room_id bigint not null references rooms (id),
    user_id bigint not null references users (id),
    open boolean not null,
    blocked boolean not null,
    last_activity bigint not null,
    last_ping bigint not null,
    read_up_to bigint not null,
    tab_position integer,
    inbox_read_up_to bigint not null,
    primary key (room_id, user_id)
);
create index closed_room_members_user on closed_room_members (user_id);
