drop table reactions;
