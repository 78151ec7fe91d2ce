alter table suspended_memberships drop column access_ended_at;
