-- The audit log of everything that is administered. `organization_id` is 0 for what concerns the whole
-- server. Names of users are not here: `actor` and `user_id` have their numbers.
alter table audit add column application_id bigint;
-- Where the request came from.
alter table audit add column address text;
-- To what it was done, if not to a user alone, and what that was called then.
alter table audit add column target_kind text;
alter table audit add column target_id text;
alter table audit add column target_name text;

-- What the retention limit ends, and what is known of a user who is erased.
create index audit_at on audit (at);
create index audit_user on audit (user_id) where user_id is not null;
create index audit_actor on audit (actor, id);
