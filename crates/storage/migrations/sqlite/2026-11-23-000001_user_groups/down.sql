drop table user_group_members;
drop table user_groups;
