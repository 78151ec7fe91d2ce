drop table node_presence;
alter table nodes drop column presence_from;
alter table nodes drop column presence_at;
