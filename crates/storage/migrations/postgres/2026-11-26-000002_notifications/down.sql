drop table pushes;
drop table push_subscriptions;
drop table notification_levels;
drop table notification_settings;
