alter table room_members drop column tab_position;
