-- Nobody is let in as an inactive user.
alter table users add column active boolean not null default true;

-- How many people it holds, kept with each who comes or goes: counting them would make every newcomer
-- cost as much as all who came before.
alter table organizations add column user_count bigint not null default 0;
update organizations set user_count =
    (select count(*) from organization_members where organization_id = organizations.id);
create index organizations_parent on organizations (parent_id) where parent_id is not null;

-- Who makes, changes and removes users of an organization from outside.
create table identity_providers (
    organization_id integer primary key not null references organizations (id),
    -- Names the organization in the provider's addresses.
    uid text not null unique,
    token_hash blob not null,
    created_at bigint not null,
    -- When the token was made.
    rotated_at bigint not null
);

-- Whom a provider knows. Those it removed stay, so that the same account comes back with the subject.
create table identities (
    user_id integer primary key not null references users (id),
    organization_id integer not null references identity_providers (organization_id),
    subject text not null,
    -- The form by which subjects are compared.
    subject_key text not null,
    -- What the provider calls the user for itself.
    external_id text,
    version bigint not null,
    created_at bigint not null,
    updated_at bigint not null,
    removed_at bigint,
    unique (organization_id, subject_key)
);
create index identities_list on identities (organization_id, user_id);
create index identities_external on identities (organization_id, external_id);

-- What was done to an organization's users from outside, and by whom. Refers to nothing: a record
-- outlives what it tells of, and writing it waits for nobody who holds the organization.
create table audit (
    id integer primary key autoincrement not null,
    organization_id bigint not null,
    at bigint not null,
    actor text not null,
    deed text not null,
    user_id bigint,
    -- A JSON object.
    detail text not null
);
create index audit_organization on audit (organization_id, id);
