alter table identity_providers drop column used_at;
