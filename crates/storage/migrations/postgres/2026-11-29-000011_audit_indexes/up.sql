-- Records of an organization of one action, of one actor and about one user, in the order of their
-- numbers: its administrators list them part by part.
create index audit_organization_action on audit (organization_id, action, id);
create index audit_organization_actor on audit (organization_id, actor, id);
create index audit_organization_user on audit (organization_id, user_id, id) where user_id is not null;
