drop index event_log_end;
