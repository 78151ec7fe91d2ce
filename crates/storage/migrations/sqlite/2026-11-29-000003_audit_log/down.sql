drop index audit_actor;
drop index audit_user;
drop index audit_at;
alter table audit drop column target_name;
alter table audit drop column target_id;
alter table audit drop column target_kind;
alter table audit drop column address;
alter table audit drop column application_id;
