drop table administrator_rules;
