-- How far each server has published who is present there, and since when nothing of that was removed;
-- in milliseconds since 1970, and 0 while it is alone.
alter table nodes add column presence_at bigint not null default 0;
alter table nodes add column presence_from bigint not null default 0;

-- Who is present at each of several servers. The rows of a server are removed with it.
create table node_presence (
    node text not null references nodes (id) on delete cascade,
    user_id bigint not null,
    -- The same for all rows that were written at once, and larger than that of all written before.
    changed_at bigint not null,
    -- Users who left are shown as absent for a while, so that others learn of it.
    present boolean not null,
    -- The rooms, and how the user is shown in each.
    places bytea not null,
    primary key (node, user_id)
);
create index node_presence_changed on node_presence (node, changed_at);
