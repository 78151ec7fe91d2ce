-- The last entry by which a credential or a grant ended.
create index event_log_end on event_log (seq) where kind in (13, 14);
