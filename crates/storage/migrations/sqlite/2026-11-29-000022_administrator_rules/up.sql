-- What administrators of organizations set for how long messages are kept. Rules of operators are in
-- retention_rules, and go before these.
create table administrator_rules (
    -- 0 an organization, 1 a flow
    scope smallint not null,
    -- The organization or the room.
    target_id bigint not null,
    -- From then on it takes the place of the rule before.
    applies_at bigint not null,
    -- 0 for ever; without a number there is no rule from then on.
    days bigint,
    set_by bigint not null,
    set_at bigint not null,
    primary key (scope, target_id, applies_at)
) without rowid;
