-- Programs by others that act for users.
create table applications (
    id integer primary key autoincrement not null,
    client_id text not null unique,
    organization_id integer not null references organizations (id),
    name text not null,
    -- Without a secret, since it runs where it can keep none.
    public boolean not null,
    -- Sealed under the server's key: it signs what is sent to the application.
    secret blob,
    -- One on each line.
    redirect_uris text not null,
    configuration_uri text,
    setup_uri text,
    icon_url text,
    password_grant boolean not null,
    out_of_band boolean not null,
    creator_id integer references users (id),
    created_at bigint not null
);
create index applications_organization on applications (organization_id);
create index applications_creator on applications (creator_id);

-- What a user allowed an application at one time. All tokens that follow from it end with it.
create table grants (
    id integer primary key autoincrement not null,
    application_id integer not null references applications (id),
    user_id integer not null references users (id),
    scopes smallint not null,
    -- How many times the refresh token was replaced.
    generation bigint not null default 0,
    created_at bigint not null,
    used_at bigint not null
);
create index grants_user on grants (user_id, application_id);
create index grants_application on grants (application_id);

create table authorization_codes (
    hash blob primary key not null,
    application_id integer not null references applications (id),
    user_id integer not null references users (id),
    scopes smallint not null,
    redirect_uri text not null,
    redirect_named boolean not null,
    challenge text,
    expires_at bigint not null,
    -- What it was exchanged for. That may have ended before the code is forgotten.
    grant_id bigint
) without rowid;
create index authorization_codes_user on authorization_codes (user_id, application_id);
create index authorization_codes_application on authorization_codes (application_id);
create index authorization_codes_end on authorization_codes (expires_at);

create table access_tokens (
    hash blob primary key not null,
    grant_id integer not null references grants (id),
    scopes smallint not null,
    created_at bigint not null,
    expires_at bigint not null
) without rowid;
create index access_tokens_grant on access_tokens (grant_id, expires_at);
create index access_tokens_end on access_tokens (expires_at);

create table refresh_tokens (
    hash blob primary key not null,
    grant_id integer not null references grants (id),
    generation bigint not null,
    expires_at bigint not null
) without rowid;
create index refresh_tokens_grant on refresh_tokens (grant_id, expires_at);
create index refresh_tokens_end on refresh_tokens (expires_at);

-- Which browser a session is of, as it calls itself.
alter table sessions add column agent text not null default '';
