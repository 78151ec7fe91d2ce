alter table former_members drop column nick;
alter table former_members drop column name;
