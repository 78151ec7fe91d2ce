-- The user who made the present token of a provider; null where an operator did.
alter table identity_providers add column made_by bigint;
