drop table audit;
drop table identities;
drop table identity_providers;
drop index organizations_parent;
alter table organizations drop column user_count;
alter table users drop column active;
