update users set email_proved = true where id in (select user_id from identities where stated_email is not null);
drop table suspended_memberships;
alter table identities drop column suspended_at;
alter table identities drop column stated_email;
drop index users_recovery;
alter table users drop column recovery_key;
drop table organization_domains;
