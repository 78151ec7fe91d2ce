-- What those who have left a flow were called then. What they are called since is not for those who stayed.
alter table former_members add column name text not null default '';
alter table former_members add column nick text not null default '';
update former_members
set name = (select users.name from users where users.id = former_members.user_id),
    nick = (select users.nick from users where users.id = former_members.user_id);
