drop table former_members;
