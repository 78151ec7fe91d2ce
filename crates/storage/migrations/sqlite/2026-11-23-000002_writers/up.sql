-- When each writer committed last, so that the rows of those that were killed can be removed.
alter table writers add column noted_at bigint not null default 0;
