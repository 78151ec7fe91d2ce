-- The sizes are in the index, so that the files of an organization are summed up without reading their rows.
drop index files_message;
create index files_message on files (room_id, message_id, size);
