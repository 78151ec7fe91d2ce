alter table user_groups drop column external_id;
alter table user_groups drop column display_name;
