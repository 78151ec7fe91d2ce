-- The place of a room's tab among those that the user has ordered; null for one that has none.
alter table room_members add column tab_position integer;
