-- Groups of users within an organization, mentioned together.
create table user_groups (
    id integer primary key autoincrement not null,
    organization_id integer not null references organizations (id),
    name text not null,
    -- The form by which nicks and names of groups are compared. No nick of the organization has it.
    name_key text not null,
    created_at integer not null,
    unique (organization_id, name_key)
);

-- Their members, who belong to the organization.
create table user_group_members (
    group_id integer not null references user_groups (id),
    user_id integer not null references users (id),
    primary key (group_id, user_id)
);
create index user_group_members_user on user_group_members (user_id);
