drop table mail_records;
drop table removed_members;
