//! What users allowed applications, and the codes and tokens that came of it, each found by the
//! digest of its secret.
//!
//! Transactions that touch several of these lock them in one order: the user, the application,
//! codes, grants, tokens.

use diesel::prelude::*;
use eddyline_model::applications::Application;
use eddyline_model::grants::{AccessToken, AuthorizationCode, Grant, RefreshToken};
use eddyline_model::scopes::Scopes;
use eddyline_model::users::User;
use eddyline_model::{ApplicationId, GrantId, OrganizationId, Timestamp, UserId};
use eddyline_portable::portable;

use crate::Result;
use crate::applications::{self, to_application};
use crate::areas::{Grants, OauthTokens};
use crate::reader::Access;
use crate::schema::{
    access_tokens, applications as all_applications, authorization_codes, grants,
    organization_members, refresh_tokens, users,
};
use crate::transaction::Tx;
use crate::users::{UserRow, to_user};

#[derive(Clone, Copy, Queryable, Selectable)]
#[diesel(table_name = grants)]
struct GrantRow {
    id: i64,
    application_id: i64,
    user_id: i64,
    scopes: i16,
    generation: i64,
    created_at: i64,
    used_at: i64,
}

fn to_grant(row: GrantRow) -> Grant {
    Grant {
        id: GrantId(row.id),
        application: ApplicationId(row.application_id),
        user: UserId(row.user_id),
        scopes: Scopes::from_bits(row.scopes),
        generation: row.generation,
        created_at: Timestamp(row.created_at),
        used_at: Timestamp(row.used_at),
    }
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = authorization_codes)]
struct CodeRow {
    application_id: i64,
    user_id: i64,
    scopes: i16,
    redirect_uri: String,
    redirect_named: bool,
    challenge: Option<String>,
    expires_at: i64,
    grant_id: Option<i64>,
}

fn to_code(row: CodeRow) -> AuthorizationCode {
    AuthorizationCode {
        application: ApplicationId(row.application_id),
        user: UserId(row.user_id),
        scopes: Scopes::from_bits(row.scopes),
        redirect_uri: row.redirect_uri,
        redirect_named: row.redirect_named,
        challenge: row.challenge,
        expires_at: Timestamp(row.expires_at),
        grant: row.grant_id.map(GrantId),
    }
}

#[derive(Clone, Copy, Queryable, Selectable)]
#[diesel(table_name = access_tokens)]
struct AccessRow {
    grant_id: i64,
    scopes: i16,
    created_at: i64,
    expires_at: i64,
}

fn to_access_token(row: AccessRow) -> AccessToken {
    AccessToken {
        grant: GrantId(row.grant_id),
        scopes: Scopes::from_bits(row.scopes),
        created_at: Timestamp(row.created_at),
        expires_at: Timestamp(row.expires_at),
    }
}

/// Whose grants are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GrantsOf {
    /// All of a user's.
    User(UserId),
    /// Those that a user gave one application.
    UserAt(UserId, ApplicationId),
    /// All that anybody gave an application.
    Application(ApplicationId),
}

/// Whether a grant still has a token that can be used at a time.
macro_rules! has_token {
    ($now:expr) => {
        diesel::dsl::exists(
            access_tokens::table
                .filter(access_tokens::grant_id.eq(grants::id))
                .filter(access_tokens::expires_at.gt($now.0)),
        )
        .or(diesel::dsl::exists(
            refresh_tokens::table
                .filter(refresh_tokens::grant_id.eq(grants::id))
                .filter(refresh_tokens::expires_at.gt($now.0)),
        ))
    };
}

#[portable]
impl<C: Access> OauthTokens<'_, C> {
    /// The code with this hash.
    pub fn find_code(c: &mut Connection, hash: &[u8]) -> Result<Option<AuthorizationCode>> {
        let row = authorization_codes::table
            .find(hash)
            .select(CodeRow::as_select())
            .first(c)
            .optional()?;
        Ok(row.map(to_code))
    }

    /// The access token with this hash and what it came from, also when it has ended.
    pub fn find_access(c: &mut Connection, hash: &[u8]) -> Result<Option<(AccessToken, Grant)>> {
        let row = access_tokens::table
            .inner_join(grants::table.on(grants::id.eq(access_tokens::grant_id)))
            .filter(access_tokens::hash.eq(hash))
            .select((AccessRow::as_select(), GrantRow::as_select()))
            .first::<(AccessRow, GrantRow)>(c)
            .optional()?;
        Ok(row.map(|(token, grant)| (to_access_token(token), to_grant(grant))))
    }

    /// The refresh token with this hash and what it came from, also when it was replaced or has
    /// ended.
    pub fn find_refresh(c: &mut Connection, hash: &[u8]) -> Result<Option<(RefreshToken, Grant)>> {
        let row = refresh_tokens::table
            .inner_join(grants::table.on(grants::id.eq(refresh_tokens::grant_id)))
            .filter(refresh_tokens::hash.eq(hash))
            .select((
                refresh_tokens::generation,
                refresh_tokens::expires_at,
                GrantRow::as_select(),
            ))
            .first::<(i64, i64, GrantRow)>(c)
            .optional()?;
        Ok(row.map(|(generation, expires_at, grant)| {
            let grant = to_grant(grant);
            (
                RefreshToken {
                    grant: grant.id,
                    generation,
                    expires_at: Timestamp(expires_at),
                },
                grant,
            )
        }))
    }
}

#[portable]
impl<C: Access> Grants<'_, C> {
    /// A grant.
    pub fn find(c: &mut Connection, id: GrantId) -> Result<Option<Grant>> {
        let row = grants::table
            .find(id.0)
            .select(GrantRow::as_select())
            .first(c)
            .optional()?;
        Ok(row.map(to_grant))
    }

    /// The grants.
    pub fn list(c: &mut Connection, whose: GrantsOf) -> Result<Vec<Grant>> {
        let all = grants::table
            .select(GrantRow::as_select())
            .order(grants::id);
        let rows = match whose {
            GrantsOf::User(user) => all.filter(grants::user_id.eq(user.0)).load(c)?,
            GrantsOf::UserAt(user, application) => all
                .filter(grants::user_id.eq(user.0))
                .filter(grants::application_id.eq(application.0))
                .load(c)?,
            GrantsOf::Application(application) => all
                .filter(grants::application_id.eq(application.0))
                .load(c)?,
        };
        Ok(rows.into_iter().map(to_grant).collect())
    }

    /// The grants of a user that still have a token, with their applications.
    pub fn list_of_user(
        c: &mut Connection,
        user: UserId,
        now: Timestamp,
    ) -> Result<Vec<(Grant, Application)>> {
        let rows = grants::table
            .inner_join(all_applications::table.on(all_applications::id.eq(grants::application_id)))
            .filter(grants::user_id.eq(user.0))
            .filter(has_token!(now))
            .order(grants::id)
            .select((GrantRow::as_select(), applications::Row::as_select()))
            .load::<(GrantRow, applications::Row)>(c)?;
        rows.into_iter()
            .map(|(grant, row)| Ok((to_grant(grant), to_application(row)?)))
            .collect()
    }

    /// The grants by the people of an organization that still have a token, with who gave them and
    /// the applications.
    pub fn list_of_organization(
        c: &mut Connection,
        organization: OrganizationId,
        now: Timestamp,
    ) -> Result<Vec<(Grant, User, Application)>> {
        let rows = grants::table
            .inner_join(users::table.on(users::id.eq(grants::user_id)))
            .inner_join(all_applications::table.on(all_applications::id.eq(grants::application_id)))
            .inner_join(
                organization_members::table.on(organization_members::user_id.eq(grants::user_id)),
            )
            .filter(organization_members::organization_id.eq(organization.0))
            .filter(has_token!(now))
            .order((users::id, grants::id))
            .select((
                GrantRow::as_select(),
                UserRow::as_select(),
                applications::Row::as_select(),
            ))
            .load::<(GrantRow, UserRow, applications::Row)>(c)?;
        let whole = |(grant, user, row)| Ok((to_grant(grant), to_user(user), to_application(row)?));
        rows.into_iter().map(whole).collect()
    }

    /// Some grants without a token that could still be used.
    pub fn list_idle(c: &mut Connection, now: Timestamp, limit: i64) -> Result<Vec<GrantId>> {
        let ids = grants::table
            .filter(diesel::dsl::not(has_token!(now)))
            .order(grants::id)
            .limit(limit)
            .select(grants::id)
            .load::<i64>(c)?;
        Ok(ids.into_iter().map(GrantId).collect())
    }
}

#[portable]
impl OauthTokens<'_, Tx<'_>> {
    /// Keeps a code by its hash.
    pub fn insert_code(c: &mut Connection, hash: &[u8], code: &AuthorizationCode) -> Result<()> {
        diesel::insert_into(authorization_codes::table)
            .values((
                authorization_codes::hash.eq(hash),
                authorization_codes::application_id.eq(code.application.0),
                authorization_codes::user_id.eq(code.user.0),
                authorization_codes::scopes.eq(code.scopes.bits()),
                authorization_codes::redirect_uri.eq(&code.redirect_uri),
                authorization_codes::redirect_named.eq(code.redirect_named),
                authorization_codes::challenge.eq(code.challenge.as_deref()),
                authorization_codes::expires_at.eq(code.expires_at.0),
                authorization_codes::grant_id.eq(code.grant.map(|id| id.0)),
            ))
            .execute(c)?;
        Ok(())
    }

    /// Notes what a code was exchanged for.
    pub fn set_code_used(c: &mut Connection, hash: &[u8], grant: GrantId) -> Result<()> {
        diesel::update(authorization_codes::table.find(hash))
            .set(authorization_codes::grant_id.eq(grant.0))
            .execute(c)?;
        Ok(())
    }

    /// Keeps an access token by its hash.
    pub fn insert_access(c: &mut Connection, hash: &[u8], token: AccessToken) -> Result<()> {
        diesel::insert_into(access_tokens::table)
            .values((
                access_tokens::hash.eq(hash),
                access_tokens::grant_id.eq(token.grant.0),
                access_tokens::scopes.eq(token.scopes.bits()),
                access_tokens::created_at.eq(token.created_at.0),
                access_tokens::expires_at.eq(token.expires_at.0),
            ))
            .execute(c)?;
        Ok(())
    }

    /// Ends an access token, and tells whether there was one.
    pub fn delete_access(c: &mut Connection, hash: &[u8]) -> Result<bool> {
        Ok(diesel::delete(access_tokens::table.find(hash)).execute(c)? > 0)
    }

    /// Keeps a refresh token by its hash.
    pub fn insert_refresh(c: &mut Connection, hash: &[u8], token: RefreshToken) -> Result<()> {
        diesel::insert_into(refresh_tokens::table)
            .values((
                refresh_tokens::hash.eq(hash),
                refresh_tokens::grant_id.eq(token.grant.0),
                refresh_tokens::generation.eq(token.generation),
                refresh_tokens::expires_at.eq(token.expires_at.0),
            ))
            .execute(c)?;
        Ok(())
    }

    /// Deletes codes, and returns them.
    pub fn delete_codes(c: &mut Connection, whose: GrantsOf) -> Result<Vec<AuthorizationCode>> {
        let all = diesel::delete(authorization_codes::table);
        let rows = match whose {
            GrantsOf::User(user) => all
                .filter(authorization_codes::user_id.eq(user.0))
                .returning(CodeRow::as_returning())
                .load(c)?,
            GrantsOf::UserAt(user, application) => all
                .filter(authorization_codes::user_id.eq(user.0))
                .filter(authorization_codes::application_id.eq(application.0))
                .returning(CodeRow::as_returning())
                .load(c)?,
            GrantsOf::Application(application) => all
                .filter(authorization_codes::application_id.eq(application.0))
                .returning(CodeRow::as_returning())
                .load(c)?,
        };
        Ok(rows.into_iter().map(to_code).collect())
    }

    /// Forgets the codes that ended, but for those by which a grant could still be found: presented
    /// once more, they end it.
    pub fn delete_ended_codes(c: &mut Connection, now: Timestamp) -> Result<()> {
        let ended = authorization_codes::table.filter(authorization_codes::expires_at.le(now.0));
        let living = diesel::dsl::exists(
            grants::table.filter(grants::id.nullable().eq(authorization_codes::grant_id)),
        );
        diesel::delete(ended.filter(diesel::dsl::not(living))).execute(c)?;
        Ok(())
    }

    /// Forgets the access tokens that ended.
    pub fn delete_ended_access(c: &mut Connection, now: Timestamp) -> Result<()> {
        diesel::delete(access_tokens::table.filter(access_tokens::expires_at.le(now.0)))
            .execute(c)?;
        Ok(())
    }

    /// Forgets the refresh tokens that ended, those among them that were replaced before.
    pub fn delete_ended_refresh(c: &mut Connection, now: Timestamp) -> Result<()> {
        diesel::delete(refresh_tokens::table.filter(refresh_tokens::expires_at.le(now.0)))
            .execute(c)?;
        Ok(())
    }
}

#[portable]
impl Grants<'_, Tx<'_>> {
    /// Adds a grant that begins now, and gives its number.
    pub fn insert(
        c: &mut Connection,
        application: ApplicationId,
        user: UserId,
        scopes: Scopes,
        now: Timestamp,
    ) -> Result<GrantId> {
        let id = diesel::insert_into(grants::table)
            .values((
                grants::application_id.eq(application.0),
                grants::user_id.eq(user.0),
                grants::scopes.eq(scopes.bits()),
                grants::generation.eq(0),
                grants::created_at.eq(now.0),
                grants::used_at.eq(now.0),
            ))
            .returning(grants::id)
            .get_result::<i64>(c)?;
        Ok(GrantId(id))
    }

    /// Notes that a grant was used, and which of its refresh tokens is the present one.
    pub fn advance(c: &mut Connection, id: GrantId, generation: i64, now: Timestamp) -> Result<()> {
        diesel::update(grants::table.find(id.0))
            .set((grants::generation.eq(generation), grants::used_at.eq(now.0)))
            .execute(c)?;
        Ok(())
    }

    fn delete_row(c: &mut Connection, id: GrantId) -> Result<bool> {
        diesel::delete(access_tokens::table.filter(access_tokens::grant_id.eq(id.0))).execute(c)?;
        diesel::delete(refresh_tokens::table.filter(refresh_tokens::grant_id.eq(id.0)))
            .execute(c)?;
        Ok(diesel::delete(grants::table.find(id.0)).execute(c)? > 0)
    }
}

impl OauthTokens<'_, Tx<'_>> {
    /// Holds a code against others until the transaction ends, so that it is used once.
    ///
    /// # Errors
    ///
    /// As any query.
    pub fn lock_code(&mut self, hash: &[u8]) -> Result<Option<AuthorizationCode>> {
        #[cfg(feature = "postgres")]
        if let Some(c) = self.0.postgres() {
            let row = authorization_codes::table
                .find(hash)
                .select(CodeRow::as_select())
                .for_update();
            return Ok(row.first(c).optional()?.map(to_code));
        }
        self.find_code(hash)
    }
}

impl Grants<'_, Tx<'_>> {
    /// Ends a grant with all its tokens, and tells whether there was one.
    ///
    /// # Errors
    ///
    /// As any query.
    pub fn delete(&mut self, id: GrantId) -> Result<bool> {
        // Held first: otherwise somebody who holds it may add a token between those that are
        // deleted here and the grant.
        if self.lock(id)?.is_none() {
            return Ok(false);
        }
        self.delete_row(id)
    }

    /// Holds a grant against others until the transaction ends.
    ///
    /// # Errors
    ///
    /// As any query.
    pub fn lock(&mut self, id: GrantId) -> Result<Option<Grant>> {
        #[cfg(feature = "postgres")]
        if let Some(c) = self.0.postgres() {
            let row = grants::table
                .find(id.0)
                .select(GrantRow::as_select())
                .for_update();
            return Ok(row.first(c).optional()?.map(to_grant));
        }
        self.find(id)
    }
}
