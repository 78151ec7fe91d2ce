//! Sources, and the tokens that post to flows.

use diesel::prelude::*;
use eddyline_model::sources::{Source, ThreadSource};
use eddyline_model::{ApplicationId, RoomId, SourceId, Timestamp, UserId};
use eddyline_portable::portable;

use crate::Result;
use crate::areas::Sources;
use crate::reader::Access;
use crate::schema::{applications, flow_tokens, sources};
use crate::transaction::Tx;

#[derive(Queryable, Selectable)]
#[diesel(table_name = sources)]
pub(crate) struct Row {
    id: i64,
    room_id: i64,
    application_id: Option<i64>,
    name: String,
    external_url: Option<String>,
    configuration_url: Option<String>,
    error_message: Option<String>,
    creator_id: Option<i64>,
    created_at: i64,
    updated_at: i64,
    removed_at: Option<i64>,
}

impl From<Row> for Source {
    fn from(row: Row) -> Self {
        Self {
            id: SourceId(row.id),
            room: RoomId(row.room_id),
            application: row.application_id.map(ApplicationId),
            name: row.name,
            external_url: row.external_url,
            configuration_url: row.configuration_url,
            error_message: row.error_message,
            creator: row.creator_id.map(UserId),
            created_at: Timestamp(row.created_at),
            updated_at: Timestamp(row.updated_at),
            removed_at: row.removed_at.map(Timestamp),
        }
    }
}

/// A source to be.
#[derive(Clone, Debug)]
pub struct NewSourceRow {
    /// The flow.
    pub room: RoomId,
    /// The application; `None` where a script posts with the token.
    pub application: Option<ApplicationId>,
    /// Its name.
    pub name: String,
    /// Where what it mirrors is to be found.
    pub external_url: Option<String>,
    /// Who makes it, unless an operator does.
    pub creator: Option<UserId>,
    /// When.
    pub created_at: Timestamp,
}

/// What a flow token stands for.
#[derive(Clone, Debug)]
pub struct FlowTokenOf {
    /// The flow.
    pub room: RoomId,
    /// The source, and what threads show of it; `None` for the flow's own token.
    pub source: Option<(Source, ThreadSource)>,
}

/// What threads show of a source of an application with this name and icon.
fn shown(source: &Source, application: Option<String>, icon: Option<String>) -> ThreadSource {
    let application = application.unwrap_or_else(|| source.name.clone());
    ThreadSource {
        id: source.id,
        icon,
        application,
    }
}

#[portable]
impl<C: Access> Sources<'_, C> {
    /// A source, also one that was removed.
    pub fn find(c: &mut Connection, id: SourceId) -> Result<Option<Source>> {
        Ok(sources::table
            .find(id.0)
            .select(Row::as_select())
            .first(c)
            .optional()?
            .map(Source::from))
    }

    /// The sources of flows that were not removed, the oldest first.
    pub fn list_of_rooms(c: &mut Connection, rooms: &[RoomId]) -> Result<Vec<Source>> {
        let rows = sources::table
            .filter(sources::room_id.eq_any(rooms.iter().map(|room| room.0)))
            .filter(sources::removed_at.is_null())
            .order(sources::id)
            .select(Row::as_select())
            .load(c)?;
        Ok(rows.into_iter().map(Source::from).collect())
    }

    /// The first sources of an application in a flow that were not removed.
    pub fn list_of_application(
        c: &mut Connection,
        application: ApplicationId,
        room: RoomId,
        limit: i64,
    ) -> Result<Vec<Source>> {
        let rows = sources::table
            .filter(sources::application_id.eq(application.0))
            .filter(sources::room_id.eq(room.0))
            .filter(sources::removed_at.is_null())
            .order(sources::id)
            .limit(limit)
            .select(Row::as_select())
            .load(c)?;
        Ok(rows.into_iter().map(Source::from).collect())
    }

    /// The flows in which an application has sources that were not removed.
    pub fn list_rooms_of_application(
        c: &mut Connection,
        application: ApplicationId,
    ) -> Result<Vec<RoomId>> {
        let rooms = sources::table
            .filter(sources::application_id.eq(application.0))
            .filter(sources::removed_at.is_null())
            .select(sources::room_id)
            .distinct()
            .order(sources::room_id)
            .load::<i64>(c)?;
        Ok(rooms.into_iter().map(RoomId).collect())
    }

    /// What threads show of a source.
    pub fn find_shown(c: &mut Connection, source: &Source) -> Result<ThreadSource> {
        let application = match source.application {
            None => None,
            Some(id) => applications::table
                .find(id.0)
                .select((applications::name, applications::icon_url))
                .first::<(String, Option<String>)>(c)
                .optional()?,
        };
        let (name, icon) = application.unzip();
        Ok(shown(source, name, icon.flatten()))
    }

    /// What the token with this hash stands for.
    pub fn find_token(c: &mut Connection, hash: &[u8]) -> Result<Option<FlowTokenOf>> {
        let found = flow_tokens::table
            .left_join(sources::table.on(sources::id.nullable().eq(flow_tokens::source_id)))
            .left_join(
                applications::table.on(applications::id.nullable().eq(sources::application_id)),
            )
            .filter(flow_tokens::hash.eq(hash))
            .select((
                flow_tokens::room_id,
                Option::<Row>::as_select(),
                applications::name.nullable(),
                applications::icon_url.nullable(),
            ))
            .first::<(i64, Option<Row>, Option<String>, Option<String>)>(c)
            .optional()?;
        Ok(found.map(|(room, source, name, icon)| {
            let source = source.map(|row| {
                let source = Source::from(row);
                let shown = shown(&source, name, icon);
                (source, shown)
            });
            FlowTokenOf {
                room: RoomId(room),
                source,
            }
        }))
    }
}

#[portable]
impl Sources<'_, Tx<'_>> {
    /// Makes a source and gives its number.
    pub fn insert(c: &mut Connection, new: &NewSourceRow) -> Result<SourceId> {
        let id = diesel::insert_into(sources::table)
            .values((
                sources::room_id.eq(new.room.0),
                sources::application_id.eq(new.application.map(|id| id.0)),
                sources::name.eq(&new.name),
                sources::external_url.eq(&new.external_url),
                sources::creator_id.eq(new.creator.map(|id| id.0)),
                sources::created_at.eq(new.created_at.0),
                sources::updated_at.eq(new.created_at.0),
            ))
            .returning(sources::id)
            .get_result::<i64>(c)?;
        Ok(SourceId(id))
    }

    /// Removes the sources of an application in a flow.
    pub fn delete_of_application(
        c: &mut Connection,
        application: ApplicationId,
        room: RoomId,
        now: Timestamp,
    ) -> Result<()> {
        let there = sources::table
            .filter(sources::application_id.eq(application.0))
            .filter(sources::room_id.eq(room.0))
            .filter(sources::removed_at.is_null());
        diesel::update(there)
            .set((sources::removed_at.eq(now.0), sources::updated_at.eq(now.0)))
            .execute(c)?;
        Ok(())
    }

    /// Parts all sources, which were removed before, from an application that goes.
    pub fn clear_application(c: &mut Connection, application: ApplicationId) -> Result<()> {
        let of_application = sources::table.filter(sources::application_id.eq(application.0));
        diesel::update(of_application)
            .set(sources::application_id.eq(None::<i64>))
            .execute(c)?;
        Ok(())
    }

    /// Changes what can be changed about a source: its name, its addresses and its message.
    pub fn update(c: &mut Connection, changed: &Source) -> Result<()> {
        diesel::update(sources::table.find(changed.id.0))
            .set((
                sources::name.eq(&changed.name),
                sources::external_url.eq(&changed.external_url),
                sources::configuration_url.eq(&changed.configuration_url),
                sources::error_message.eq(&changed.error_message),
                sources::updated_at.eq(changed.updated_at.0),
            ))
            .execute(c)?;
        Ok(())
    }

    /// Removes a source; its token is refused from now on.
    pub fn delete(c: &mut Connection, id: SourceId, now: Timestamp) -> Result<()> {
        diesel::update(sources::table.find(id.0))
            .set((sources::removed_at.eq(now.0), sources::updated_at.eq(now.0)))
            .execute(c)?;
        Ok(())
    }

    /// Adds a token of a flow by its hash: the flow's own, or that of a source.
    pub fn insert_token(
        c: &mut Connection,
        hash: &[u8],
        room: RoomId,
        source: Option<SourceId>,
        now: Timestamp,
    ) -> Result<()> {
        diesel::insert_into(flow_tokens::table)
            .values((
                flow_tokens::hash.eq(hash),
                flow_tokens::room_id.eq(room.0),
                flow_tokens::source_id.eq(source.map(|id| id.0)),
                flow_tokens::created_at.eq(now.0),
            ))
            .execute(c)?;
        Ok(())
    }
}
