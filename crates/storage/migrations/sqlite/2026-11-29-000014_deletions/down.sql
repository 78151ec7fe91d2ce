drop table closed_room_members;
drop table closed_members;
drop table pending_deletions;
