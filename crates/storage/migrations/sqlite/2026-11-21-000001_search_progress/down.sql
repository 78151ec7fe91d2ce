drop table search_progress;
