-- Either may be unset; days are written YYYY-MM-DD.
alter table organizations add column trial_ends text;
alter table organizations add column billing_date text;

-- Every name in URLs that an organization has or had: all of them lead to it, and to no other.
create table organization_names (
    parameterized_name text primary key not null,
    organization_id integer not null references organizations (id)
) without rowid;
insert into organization_names select parameterized_name, id from organizations;

-- Pictures that users uploaded.
create table avatars (
    user_id integer primary key not null references users (id),
    content_type text not null,
    bytes blob not null
);
create index users_avatar on users (avatar);

-- Browsers that are signed in.
create table sessions (
    hash blob primary key not null,
    user_id integer not null references users (id),
    created_at bigint not null,
    seen_at bigint not null
) without rowid;
create index sessions_user on sessions (user_id);

create table invitations (
    id integer primary key autoincrement not null,
    room_id integer not null references rooms (id),
    email text not null,
    email_key text not null,
    -- Unset for those who asked for the mail themselves, on the page of a join link.
    inviter_id integer references users (id),
    message text,
    -- 0 pending, 1 accepted
    state smallint not null,
    created_at bigint not null,
    sent_at bigint not null
);
create unique index invitations_pending on invitations (room_id, email_key) where state = 0;
create index invitations_room on invitations (room_id, id);
create index invitations_email on invitations (email_key);

-- Secret links that were mailed; what they lead to depends on the purpose.
create table links (
    hash blob primary key not null,
    -- 0 an invitation, 1 a new password, 2 undoing a change of address
    purpose smallint not null,
    -- The invitation or the user.
    target_id bigint not null,
    -- The address to go back to.
    email text,
    expires_at bigint not null
) without rowid;
create index links_target on links (purpose, target_id);
create index links_end on links (expires_at);

-- Mail to be sent. The secret of a link is made when it goes out and stands nowhere here.
create table mails (
    id integer primary key autoincrement not null,
    purpose smallint not null,
    target_id bigint not null,
    recipient text not null,
    -- What the mail says beside; depends on the purpose.
    detail text,
    attempts bigint not null default 0,
    due_at bigint not null,
    created_at bigint not null
);
create index mails_due on mails (due_at);
create index mails_target on mails (purpose, target_id);

-- A private conversation is a room of two, or of one with oneself.
create table private_rooms (
    room_id integer primary key not null references rooms (id),
    low_user_id integer not null references users (id),
    high_user_id integer not null references users (id),
    unique (low_user_id, high_user_id)
);
create index private_rooms_high on private_rooms (high_user_id);

-- To whom a private message is.
alter table messages add column to_user_id bigint;
-- The second of the two users whom an entry concerns.
alter table event_log add column peer_id bigint;
create index event_log_peer on event_log (peer_id, seq) where peer_id is not null;

-- A join link leads to its flow.
create index flows_join_secret on flows (join_secret);

create index mentions_seen_message on mentions_seen (room_id, message_id);

-- Whether mail to the address reached the user. Operators vouch for those they enter.
alter table users add column email_proved boolean not null default true;

-- Addresses that users gave up lately, and can take back until then. Nobody else gets them meanwhile.
create table email_claims (
    email_key text not null,
    user_id integer not null references users (id),
    expires_at bigint not null,
    primary key (email_key, user_id)
) without rowid;
create index email_claims_user on email_claims (user_id);
