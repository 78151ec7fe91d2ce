drop index audit_organization_user;
drop index audit_organization_actor;
drop index audit_organization_action;
