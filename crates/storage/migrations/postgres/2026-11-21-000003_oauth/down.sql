alter table sessions drop column agent;
drop table refresh_tokens;
drop table access_tokens;
drop table authorization_codes;
drop table grants;
drop table applications;
