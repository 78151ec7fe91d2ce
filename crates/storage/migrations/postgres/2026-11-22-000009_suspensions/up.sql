-- When a suspension of a shared account last ended all access, in milliseconds since 1970.
alter table suspended_memberships add column access_ended_at bigint not null default 0;
