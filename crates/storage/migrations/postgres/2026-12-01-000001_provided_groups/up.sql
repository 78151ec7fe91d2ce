-- What an identity provider calls a group; null where that is the name.
alter table user_groups add column display_name text;
-- The provider's own id of a group; null where it gave none.
alter table user_groups add column external_id text;
