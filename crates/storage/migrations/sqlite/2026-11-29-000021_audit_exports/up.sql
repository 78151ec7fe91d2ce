-- Destinations that the audit log is sent to.
create table audit_exports (
    name text not null primary key,
    -- The last record that the destination has taken.
    last_id bigint not null,
    -- The server that sends to it; empty before the first.
    holder text not null,
    -- When the destination last took records.
    updated_at bigint not null
) without rowid;
