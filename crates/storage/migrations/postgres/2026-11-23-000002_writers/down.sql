alter table writers drop column noted_at;
