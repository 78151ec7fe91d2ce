//! Users, their passwords' hashes and their API tokens.

use std::collections::BTreeMap;

use diesel::prelude::*;
use eddyline_model::users::{Account, User};
use eddyline_model::{OrganizationId, RoomId, Timestamp, UserId};
use eddyline_portable::portable;

use crate::Result;
use crate::areas::{Emails, Members, OrganizationMembers, Passwords, Users};
use crate::reader::{Access, Inner};
use crate::schema::{
    closed_members, email_claims, flows, organization_members, room_members, users,
};
use crate::transaction::Tx;

/// The people of an organization, ordered by number, each with whether they administer it.
pub type People = Vec<(User, bool)>;

/// What of a user is read. The address's key and the password's hash are asked for by name.
#[derive(Queryable, Selectable)]
#[diesel(table_name = users)]
pub(crate) struct UserRow {
    id: i64,
    email: String,
    name: String,
    nick: String,
    website: String,
    avatar: String,
    status: Option<String>,
    bot: bool,
    created_at: i64,
    email_proved: bool,
    active: bool,
}

pub(crate) fn to_user(row: UserRow) -> User {
    User {
        id: UserId(row.id),
        email: row.email,
        name: row.name,
        nick: row.nick,
        website: row.website,
        avatar: row.avatar,
        status: row.status,
        bot: row.bot,
        created_at: Timestamp(row.created_at),
        email_proved: row.email_proved,
        active: row.active,
    }
}

/// What a new user starts with.
#[derive(Clone)]
pub struct NewUser {
    /// The number, which nobody else has; `None` for the next one.
    pub id: Option<UserId>,
    /// Address as written.
    pub email: String,
    /// The form by which addresses are compared.
    pub email_key: String,
    /// Full name.
    pub name: String,
    /// Short name.
    pub nick: String,
    /// 32 hexadecimal digits.
    pub avatar: String,
    /// Whether it is a program.
    pub bot: bool,
    /// Whether the account may be used.
    pub active: bool,
    /// PHC string, if there is a password.
    pub password_hash: Option<String>,
    /// The time of making.
    pub created_at: Timestamp,
}

#[derive(Insertable)]
#[diesel(table_name = users)]
struct NewUserRow<'a> {
    id: Option<i64>,
    email: &'a str,
    email_key: &'a str,
    name: &'a str,
    nick: &'a str,
    avatar: &'a str,
    bot: bool,
    active: bool,
    password_hash: Option<&'a str>,
    created_at: i64,
}

impl Users<'_, Tx<'_>> {
    /// Has the next user get a larger number than this one.
    #[cfg_attr(
        not(feature = "postgres"),
        allow(unused_variables, reason = "only PostgreSQL counts by a sequence")
    )]
    fn number_users_beyond(&mut self, id: UserId) -> Result<()> {
        match self.0.connection() {
            // The next number follows the largest.
            #[cfg(feature = "sqlite")]
            Inner::Sqlite(_) => Ok(()),
            #[cfg(feature = "postgres")]
            Inner::Postgres(c) => {
                // A new sequence has the number 1 without having given it.
                let sql = "select setval('users_id_seq', $1) from users_id_seq \
                           where last_value < $1 or (last_value = $1 and not is_called)";
                diesel::sql_query(sql)
                    .bind::<diesel::sql_types::BigInt, _>(id.0)
                    .execute(c)?;
                Ok(())
            }
        }
    }
}

impl Users<'_, Tx<'_>> {
    /// Adds a user.
    ///
    /// # Errors
    ///
    /// [`crate::Error::Exists`] when the address or the number is taken.
    pub fn insert(&mut self, new: &NewUser) -> Result<UserId> {
        if new.id.is_some() {
            self.lock_numbers()?;
        }
        let id = self.insert_row(new)?;
        if new.id.is_some() {
            self.number_users_beyond(id)?;
        }
        Ok(id)
    }

    /// Lets no other transaction take the number of a user before this one ends.
    fn lock_numbers(&mut self) -> Result<()> {
        match self.0.connection() {
            #[cfg(feature = "sqlite")]
            Inner::Sqlite(_) => Ok(()),
            #[cfg(feature = "postgres")]
            Inner::Postgres(c) => {
                diesel::sql_query("lock table users in share row exclusive mode").execute(c)?;
                Ok(())
            }
        }
    }
}

#[portable]
impl<C: Access> Users<'_, C> {
    /// The user with this number.
    pub fn find(c: &mut Connection, id: UserId) -> Result<Option<User>> {
        Ok(users::table
            .find(id.0)
            .select(UserRow::as_select())
            .get_result(c)
            .optional()?
            .map(to_user))
    }

    /// Several users, ordered by number.
    pub fn list(c: &mut Connection, ids: &[UserId]) -> Result<Vec<User>> {
        let ids: Vec<i64> = ids.iter().map(|id| id.0).collect();
        let rows = users::table
            .filter(users::id.eq_any(ids))
            .order(users::id)
            .select(UserRow::as_select())
            .load(c)?;
        Ok(rows.into_iter().map(to_user).collect())
    }

    /// The account with this address, given in the form by which addresses are compared.
    pub fn find_account_by_email(c: &mut Connection, email_key: &str) -> Result<Option<Account>> {
        let row = users::table
            .filter(users::email_key.eq(email_key))
            .select((UserRow::as_select(), users::password_hash))
            .get_result::<(UserRow, Option<String>)>(c)
            .optional()?;
        Ok(row.map(|(row, password_hash)| Account {
            user: to_user(row),
            password_hash,
        }))
    }

    /// Whom a user gets to see in a list of users, ordered by number: the user, all of the
    /// organizations they administer, and those in a flow with them. Who is blocked from a flow is
    /// not in it, and in an archived one there is nobody.
    pub fn list_seen_by(c: &mut Connection, user: UserId) -> Result<Vec<User>> {
        let administered = diesel::alias!(organization_members as administered);
        let of_mine = organization_members::table
            .filter(
                organization_members::organization_id.eq_any(
                    administered
                        .filter(administered.field(organization_members::user_id).eq(user.0))
                        .filter(administered.field(organization_members::admin).eq(true))
                        .select(administered.field(organization_members::organization_id)),
                ),
            )
            .select(organization_members::user_id);
        let own = diesel::alias!(room_members as own);
        let my_flows = own
            .inner_join(flows::table.on(flows::room_id.eq(own.field(room_members::room_id))))
            .filter(own.field(room_members::user_id).eq(user.0))
            .filter(own.field(room_members::blocked).eq(false))
            .filter(flows::disabled.eq(false))
            .select(own.field(room_members::room_id));
        let beside_me = room_members::table
            .filter(room_members::room_id.eq_any(my_flows))
            .filter(room_members::blocked.eq(false))
            .select(room_members::user_id);
        // One question each: asked as one, PostgreSQL looks at every user there is.
        let mut seen = BTreeMap::new();
        let all = users::table.select(UserRow::as_select());
        for row in [
            all.filter(users::id.eq(user.0)).load(c)?,
            all.filter(users::id.eq_any(of_mine)).load(c)?,
            all.filter(users::id.eq_any(beside_me)).load(c)?,
        ]
        .into_iter()
        .flatten()
        {
            seen.entry(row.id).or_insert_with(|| to_user(row));
        }
        Ok(seen.into_values().collect())
    }
}

#[portable]
impl<C: Access> Emails<'_, C> {
    /// Whether somebody else may still take an address back.
    pub fn is_claimed(
        c: &mut Connection,
        email_key: &str,
        but: UserId,
        now: Timestamp,
    ) -> Result<bool> {
        let others = email_claims::table
            .filter(email_claims::email_key.eq(email_key))
            .filter(email_claims::user_id.ne(but.0))
            .filter(email_claims::expires_at.gt(now.0));
        Ok(diesel::select(diesel::dsl::exists(others)).get_result(c)?)
    }

    /// The address that a user gave up last and may still take back, in the form by which addresses
    /// are compared.
    pub fn find_claim(c: &mut Connection, user: UserId, now: Timestamp) -> Result<Option<String>> {
        Ok(email_claims::table
            .filter(email_claims::user_id.eq(user.0))
            .filter(email_claims::expires_at.gt(now.0))
            .order(email_claims::expires_at.desc())
            .select(email_claims::email_key)
            .first(c)
            .optional()?)
    }
}

#[portable]
impl<C: Access> Passwords<'_, C> {
    /// The hash of a user's password; `None` when the user is not active or has none.
    pub fn find(c: &mut Connection, id: UserId) -> Result<Option<String>> {
        let row = users::table
            .find(id.0)
            .filter(users::active)
            .select(users::password_hash);
        Ok(row.first::<Option<String>>(c).optional()?.flatten())
    }
}

#[portable]
impl<C: Access> OrganizationMembers<'_, C> {
    /// The people of an organization.
    pub fn list_users(c: &mut Connection, organization: OrganizationId) -> Result<People> {
        let rows = organization_members::table
            .inner_join(users::table.on(users::id.eq(organization_members::user_id)))
            .filter(organization_members::organization_id.eq(organization.0))
            .order(users::id)
            .select((UserRow::as_select(), organization_members::admin))
            .load::<(UserRow, bool)>(c)?;
        Ok(rows
            .into_iter()
            .map(|(row, admin)| (to_user(row), admin))
            .collect())
    }

    /// A user of an organization, and whether they administer it.
    pub fn find_user(
        c: &mut Connection,
        organization: OrganizationId,
        user: UserId,
    ) -> Result<Option<(User, bool)>> {
        let row = organization_members::table
            .find((organization.0, user.0))
            .inner_join(users::table.on(users::id.eq(organization_members::user_id)))
            .select((UserRow::as_select(), organization_members::admin))
            .get_result::<(UserRow, bool)>(c)
            .optional()?;
        Ok(row.map(|(row, admin)| (to_user(row), admin)))
    }

    /// Those of several users who belong to an organization that this user belongs to as well.
    pub fn list_with_common(
        c: &mut Connection,
        one: UserId,
        others: &[UserId],
    ) -> Result<Vec<UserId>> {
        let own = diesel::alias!(organization_members as own);
        let organizations = own
            .filter(own.field(organization_members::user_id).eq(one.0))
            .select(own.field(organization_members::organization_id));
        let ids = organization_members::table
            .filter(organization_members::user_id.eq_any(others.iter().map(|other| other.0)))
            .filter(organization_members::organization_id.eq_any(organizations))
            .select(organization_members::user_id)
            .distinct()
            .load(c)?;
        Ok(ids.into_iter().map(UserId).collect())
    }

    /// Whether two users belong to a common organization.
    pub fn have_common(c: &mut Connection, one: UserId, other: UserId) -> Result<bool> {
        let mine = organization_members::table
            .filter(organization_members::user_id.eq(one.0))
            .select(organization_members::organization_id)
            .load::<i64>(c)?;
        let common = organization_members::table
            .filter(organization_members::user_id.eq(other.0))
            .filter(organization_members::organization_id.eq_any(mine))
            .count()
            .get_result::<i64>(c)?;
        Ok(common > 0)
    }
}

#[portable]
impl<C: Access> Members<'_, C> {
    /// The rooms whose people a user is among, also those they are blocked from.
    pub fn list_rooms_of_user(c: &mut Connection, user: UserId) -> Result<Vec<RoomId>> {
        let ids = room_members::table
            .filter(room_members::user_id.eq(user.0))
            .order(room_members::room_id)
            .select(room_members::room_id)
            .load::<i64>(c)?;
        Ok(ids.into_iter().map(RoomId).collect())
    }
}

#[portable]
impl Users<'_, Tx<'_>> {
    fn insert_row(c: &mut Connection, new: &NewUser) -> Result<UserId> {
        let row = NewUserRow {
            id: new.id.map(|id| id.0),
            email: &new.email,
            email_key: &new.email_key,
            name: &new.name,
            nick: &new.nick,
            avatar: &new.avatar,
            bot: new.bot,
            active: new.active,
            password_hash: new.password_hash.as_deref(),
            created_at: new.created_at.0,
        };
        let id = diesel::insert_into(users::table)
            .values(row)
            .returning(users::id)
            .get_result(c)?;
        Ok(UserId(id))
    }

    /// Sets what the user says about what they are doing.
    pub fn set_status(c: &mut Connection, id: UserId, status: Option<&str>) -> Result<()> {
        diesel::update(users::table.find(id.0))
            .set(users::status.eq(status))
            .execute(c)?;
        Ok(())
    }

    /// Changes a user's address and nick.
    ///
    /// # Errors
    ///
    /// [`crate::Error::Exists`] when the address is taken, or the nick within one of the user's
    /// organizations.
    pub fn update(
        c: &mut Connection,
        id: UserId,
        nick: (&str, &str),
        email: (&str, &str),
    ) -> Result<()> {
        diesel::update(users::table.find(id.0))
            .set((
                users::nick.eq(nick.0),
                users::email.eq(email.0),
                users::email_key.eq(email.1),
            ))
            .execute(c)?;
        diesel::update(organization_members::table.filter(organization_members::user_id.eq(id.0)))
            .set(organization_members::nick_key.eq(nick.1))
            .execute(c)?;
        diesel::update(closed_members::table.filter(closed_members::user_id.eq(id.0)))
            .set(closed_members::nick_key.eq(nick.1))
            .execute(c)?;
        Ok(())
    }

    /// Sets a user's full name and home page; the latter is empty for none.
    pub fn set_profile(c: &mut Connection, id: UserId, name: &str, website: &str) -> Result<()> {
        diesel::update(users::table.find(id.0))
            .set((users::name.eq(name), users::website.eq(website)))
            .execute(c)?;
        Ok(())
    }

    /// Sets a user's full name alone.
    pub fn set_name(c: &mut Connection, id: UserId, name: &str) -> Result<()> {
        diesel::update(users::table.find(id.0))
            .set(users::name.eq(name))
            .execute(c)?;
        Ok(())
    }

    /// Sets whether a user's account may be used.
    pub fn set_active(c: &mut Connection, id: UserId, active: bool) -> Result<()> {
        diesel::update(users::table.find(id.0))
            .set(users::active.eq(active))
            .execute(c)?;
        Ok(())
    }
}

#[portable]
impl Emails<'_, Tx<'_>> {
    /// Sets whether a user's address is proved.
    pub fn set_proved(c: &mut Connection, id: UserId, proved: bool) -> Result<()> {
        diesel::update(users::table.find(id.0))
            .set(users::email_proved.eq(proved))
            .execute(c)?;
        Ok(())
    }

    /// Keeps an address that a user gives up for them, until they can no longer take it back.
    pub fn claim(
        c: &mut Connection,
        email_key: &str,
        user: UserId,
        until: Timestamp,
    ) -> Result<()> {
        diesel::insert_into(email_claims::table)
            .values((
                email_claims::email_key.eq(email_key),
                email_claims::user_id.eq(user.0),
                email_claims::expires_at.eq(until.0),
            ))
            .on_conflict((email_claims::email_key, email_claims::user_id))
            .do_update()
            .set(email_claims::expires_at.eq(until.0))
            .execute(c)?;
        Ok(())
    }

    /// Ends a user's claims that end at a time or later.
    pub fn delete_claims_ending_from(
        c: &mut Connection,
        user: UserId,
        end: Timestamp,
    ) -> Result<()> {
        let of_user = email_claims::table.filter(email_claims::user_id.eq(user.0));
        diesel::delete(of_user.filter(email_claims::expires_at.ge(end.0))).execute(c)?;
        Ok(())
    }

    /// Forgets the claims that have ended.
    pub fn delete_ended_claims(c: &mut Connection, now: Timestamp) -> Result<()> {
        diesel::delete(email_claims::table.filter(email_claims::expires_at.le(now.0)))
            .execute(c)?;
        Ok(())
    }
}

#[portable]
impl Passwords<'_, Tx<'_>> {
    /// Takes a user's password away, so that none opens the account. Says whether there was one.
    pub fn clear(c: &mut Connection, id: UserId) -> Result<bool> {
        let with_password = users::table
            .find(id.0)
            .filter(users::password_hash.is_not_null());
        let cleared = diesel::update(with_password)
            .set(users::password_hash.eq(None::<String>))
            .execute(c)?;
        Ok(cleared > 0)
    }

    /// Sets the hash of a user's password.
    pub fn set(c: &mut Connection, id: UserId, hash: &str) -> Result<()> {
        diesel::update(users::table.find(id.0))
            .set(users::password_hash.eq(hash))
            .execute(c)?;
        Ok(())
    }
}
