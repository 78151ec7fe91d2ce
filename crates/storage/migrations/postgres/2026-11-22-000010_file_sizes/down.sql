drop index files_message;
create index files_message on files (room_id, message_id);
