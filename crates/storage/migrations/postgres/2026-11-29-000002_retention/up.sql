-- How long messages are kept.
create table retention_rules (
    -- 0 an organization, 1 a flow, 2 all private conversations
    scope smallint not null,
    -- The organization or the room; 0 for private conversations.
    target_id bigint not null,
    -- 0 for ever
    days bigint not null,
    primary key (scope, target_id)
);

-- What neither retention nor an erasure deletes.
create table legal_holds (
    -- 0 an organization, 1 a flow, 2 a user
    scope smallint not null,
    target_id bigint not null,
    reason text not null,
    placed_at bigint not null,
    primary key (scope, target_id)
);
