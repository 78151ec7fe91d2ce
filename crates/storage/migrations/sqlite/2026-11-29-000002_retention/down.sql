drop table legal_holds;
drop table retention_rules;
