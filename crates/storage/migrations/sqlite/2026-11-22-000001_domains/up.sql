-- Domains that operators gave to organizations. Within those of its organization, and of the organizations
-- above it, a provider's word proves an address.
create table organization_domains (
    -- In the form by which addresses are compared.
    domain text primary key not null,
    organization_id integer not null references organizations (id),
    created_at bigint not null
);
create index organization_domains_list on organization_domains (organization_id, domain);

-- Where links to a new password go since a provider changed the address of the account: the address before
-- that change, in the form by which addresses are compared.
alter table users add column recovery_key text;
create index users_recovery on users (recovery_key) where recovery_key is not null;

-- The address that the provider stated last, until a mailed link proves it.
alter table identities add column stated_email text;
-- Since when the provider's active=false keeps the user out of its organization, while the account belongs
-- to another one too.
alter table identities add column suspended_at bigint;

-- The memberships that such a suspension ended, to be restored with it.
create table suspended_memberships (
    user_id integer not null references users (id),
    organization_id integer not null references organizations (id),
    admin boolean not null,
    primary key (user_id, organization_id)
);

-- The word of a provider no longer proves an address by itself: accounts that one made and that were never
-- used, since they have no password, must prove theirs.
update identities
    set stated_email = (select email_key from users where users.id = identities.user_id)
    where user_id in (select user_id from audit where deed = 'user.create' and actor like 'scim:%')
    and user_id in (select id from users where password_hash is null);
update users set email_proved = false where id in (select user_id from identities where stated_email is not null);
