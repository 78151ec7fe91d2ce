-- Users who were removed from an organization. They come back only by an invitation of a member; a row ends
-- with a new membership.
create table removed_members (
    organization_id integer not null references organizations (id),
    user_id integer not null references users (id),
    removed_at bigint not null,
    primary key (organization_id, user_id)
) without rowid;
insert into removed_members
    select organization_id, user_id, removed_at from identities
    where removed_at is not null and not exists (
        select 1 from organization_members
        where organization_members.organization_id = identities.organization_id
        and organization_members.user_id = identities.user_id);

-- Mail that was caused within the last day, for the quotas on it. Refers to nothing: a record outlives what the
-- mail was about, and holds no user or organization against others.
create table mail_records (
    id integer primary key autoincrement not null,
    -- 0 an invitation by a member, 1 an invitation requested on the page of a join link, 2 about an account
    kind smallint not null,
    recipient_key text not null,
    sender_id bigint,
    organization_id bigint,
    at bigint not null
);
create index mail_records_recipient on mail_records (recipient_key, kind, at);
create index mail_records_sender on mail_records (sender_id, at) where sender_id is not null;
create index mail_records_organization on mail_records (organization_id, kind, at) where organization_id is not null;
create index mail_records_at on mail_records (at);
