-- When the present token of a provider was last used, within an hour.
alter table identity_providers add column used_at bigint;
