drop table thread_markers;
alter table room_members drop column inbox_read_up_to;
