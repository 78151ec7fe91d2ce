alter table identity_providers drop column made_by;
