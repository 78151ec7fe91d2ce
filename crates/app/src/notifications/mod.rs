//! Notifications on users' devices: what users want to be notified of, which browsers take push
//! messages, and the two jobs that put these into the queue and send them.
//!
//! A push message is not written when its message is posted: the log says what was posted, in the
//! same order to every process, and the first process that finds something there to push puts it
//! into the queue (`queueing`). So posting costs nothing more, and a process that ends loses
//! nothing. What a push message says is written when it is sent (`compose`), by what is true then.

mod compose;
mod delivery;
mod key;
mod queueing;
mod senders;
mod subscriptions;

use std::collections::HashMap;
use std::sync::Arc;

use eddyline_auth::TokenHash;
use eddyline_model::notifications::{NotificationChanges, NotificationLevel, NotificationSettings};
use eddyline_model::scopes::Scope;
use eddyline_model::{FlowId, Timestamp, UserId};
use eddyline_outbound::{Config, Outbound};
use eddyline_storage::{Reader, Result as StoreResult};
use eddyline_webpush::ServerKey;
use prometheus_client::registry::Registry;
use tokio::sync::Notify;

use crate::actor::Actor;
use crate::core::Core;
use crate::metrics::{DeliveryFailure, DeliveryMetrics};
use crate::rooms::FlowRoom;
use crate::{Error, Result};

use self::senders::Senders;

pub(crate) use self::key::server_key;
pub(crate) use self::subscriptions::session;
pub use self::subscriptions::{MAX_SUBSCRIPTIONS, NewSubscription};

/// What a page of the client has to know of notifications.
#[derive(Clone, Debug)]
pub struct PageNotifications {
    /// What the user has chosen for all flows.
    pub settings: NotificationSettings,
    /// Whether push messages go to the browser of the session.
    pub is_subscribed: bool,
    /// What the user has chosen for single flows.
    pub levels: HashMap<FlowId, NotificationLevel>,
}

impl PageNotifications {
    pub(crate) fn read(
        reader: &mut Reader<'_>,
        session: &TokenHash,
        user: UserId,
    ) -> StoreResult<Self> {
        let mut notifications = reader.notifications();
        let settings = notifications.find_settings(user)?;
        Ok(Self {
            settings: settings.unwrap_or_default(),
            is_subscribed: notifications.find_subscription(&session.0)?.is_some(),
            levels: notifications.list_levels_of_user(user)?,
        })
    }
}

/// Notifications on users' devices. See [`crate::App::notifications`].
#[derive(Clone)]
pub struct Notifications {
    core: Core,
    key: Arc<ServerKey>,
    outbound: Outbound,
    /// Notified when this process puts push messages into the queue.
    queued: Arc<Notify>,
    senders: Senders,
    deliveries: DeliveryMetrics,
}

crate::core::opaque_debug!(Notifications);

impl Notifications {
    pub(crate) fn new(core: Core, key: ServerKey) -> Self {
        let bounds = core.config().outbound;
        let outbound = Outbound::new(Config {
            timeout: bounds.timeout.min(delivery::ANSWER_TIME),
            ..bounds
        });
        Self {
            core,
            key: Arc::new(key),
            outbound,
            queued: Arc::default(),
            senders: Senders::default(),
            deliveries: DeliveryMetrics::new(&[
                DeliveryFailure::Postponed,
                DeliveryFailure::GivenUp,
                DeliveryFailure::Gone,
            ]),
        }
    }

    /// Adds the metrics of push messages to a registry.
    pub(crate) fn register_metrics(&self, registry: &mut Registry) {
        self.deliveries.register(
            "push_messages",
            "Push messages that a push service took",
            "Attempts to send a push message that failed",
            registry,
        );
    }

    /// What the caller has chosen for all flows.
    ///
    /// # Errors
    ///
    /// [`Error::denied`] for flow tokens, and for applications without the scope `profile`.
    pub async fn settings(&self, actor: &Actor) -> Result<NotificationSettings> {
        let user = user_with(actor, Scope::Profile)?;
        let read = self.core.store().read(move |reader| {
            let found = reader.notifications().find_settings(user)?;
            Ok(found.unwrap_or_default())
        });
        Ok(read.await?)
    }

    /// Sets what the caller has chosen for all flows.
    ///
    /// # Errors
    ///
    /// [`Error::invalid`] for a time zone that is not known, [`Error::denied`] for flow tokens, and
    /// for applications without the scope `profile`.
    pub async fn set_settings(&self, actor: &Actor, settings: NotificationSettings) -> Result<()> {
        let user = user_with(actor, Scope::Profile)?;
        check_zone(&settings)?;
        self.core
            .transaction_as(actor, move |tx, _| {
                Ok(tx.notifications().upsert_settings(user, &settings)?)
            })
            .await?;
        Ok(())
    }

    /// Changes what the caller has chosen for all flows, and gives it as it is then.
    ///
    /// # Errors
    ///
    /// [`Error::invalid`] for quiet hours with a part missing and for a time zone that is not known,
    /// [`Error::denied`] as [`Notifications::set_settings`].
    pub async fn update(
        &self,
        actor: &Actor,
        changes: NotificationChanges,
    ) -> Result<NotificationSettings> {
        let user = user_with(actor, Scope::Profile)?;
        let write = self.core.transaction_as(actor, move |tx, _| {
            let settings = tx.notifications().find_settings(user)?.unwrap_or_default();
            let settings = settings
                .with(changes.clone())
                .map_err(|wrong| Error::invalid(wrong.name(), wrong.to_string()))?;
            check_zone(&settings)?;
            tx.notifications().upsert_settings(user, &settings)?;
            Ok(settings)
        });
        Ok(write.await?.0)
    }

    /// What the caller has chosen for a flow; `None` for what holds for all flows.
    ///
    /// # Errors
    ///
    /// [`Error::denied`] for flow tokens, and for applications without the scope `flow`.
    pub async fn level(&self, actor: &Actor, room: &FlowRoom) -> Result<Option<NotificationLevel>> {
        let user = user_with(actor, Scope::Flow)?;
        let room = room.id();
        let read = self
            .core
            .store()
            .read(move |reader| reader.notifications().list_levels(&[room], &[user]));
        Ok(read.await?.remove(&(room, user)))
    }

    /// Sets what the caller has chosen for a flow that the caller is in; `None` for what holds for
    /// all flows.
    ///
    /// # Errors
    ///
    /// [`Error::denied`] for flow tokens, applications without the scope `flow`, and users who are not
    /// in the flow.
    pub async fn set_level(
        &self,
        actor: &Actor,
        room: &FlowRoom,
        level: Option<NotificationLevel>,
    ) -> Result<()> {
        let user = user_with(actor, Scope::Flow)?;
        let room = room.id();
        self.core
            .transaction_as(actor, move |tx, _| {
                let membership = tx.members().find(room, user)?;
                if membership.is_none_or(|one| one.blocked) {
                    return Err(Error::denied().into());
                }
                Ok(tx.notifications().set_level(room, user, level)?)
            })
            .await?;
        Ok(())
    }
}

/// Checks that the time zone of quiet hours is one.
fn check_zone(settings: &NotificationSettings) -> Result<()> {
    let zone = settings.quiet.as_ref().map(|quiet| &quiet.zone);
    if zone.is_some_and(|zone| jiff::tz::TimeZone::get(zone).is_err()) {
        let text = "is not a time zone such as Europe/Helsinki";
        return Err(Error::invalid("zone", text));
    }
    Ok(())
}

/// The user, who authorized an application with this scope where one asks.
fn user_with(actor: &Actor, scope: Scope) -> Result<UserId> {
    actor.require_any(&[scope])?;
    Ok(actor.user()?.user.id)
}

/// The names of the time zones that quiet hours can be in, in the order of the alphabet.
#[must_use]
pub fn time_zones() -> Vec<String> {
    let zones = jiff::tz::db().available().map(|name| name.to_string());
    let mut zones: Vec<String> = zones.collect();
    zones.sort_unstable();
    zones
}

/// Whether the settings of a user keep a time of the server quiet.
fn is_quiet(settings: &NotificationSettings, at: Timestamp) -> bool {
    let Some(quiet) = &settings.quiet else {
        return false;
    };
    local_minutes(&quiet.zone, at)
        .and_then(eddyline_model::notifications::TimeOfDay::from_minutes)
        .is_some_and(|time| quiet.contains(time))
}

/// The minutes since midnight in a time zone; `None` for a zone that a newer version knew.
fn local_minutes(zone: &str, at: Timestamp) -> Option<u16> {
    let zone = jiff::tz::TimeZone::get(zone).ok()?;
    let time = jiff::Timestamp::from_millisecond(at.0).ok()?;
    let local = zone.to_datetime(time);
    u16::try_from(i32::from(local.hour()) * 60 + i32::from(local.minute())).ok()
}

#[cfg(test)]
mod tests {
    use eddyline_model::notifications::QuietHours;

    use super::*;

    /// 15 July 2026, 05:30 UTC; and 15 January 2027, at the same hour.
    const SUMMER: Timestamp = Timestamp(1_784_093_400_000);
    const WINTER: Timestamp = Timestamp(1_799_991_000_000);

    #[test]
    fn quiet_hours_are_those_of_the_zone_by_its_clock_of_the_season() {
        let settings = |zone: &str| NotificationSettings {
            quiet: Some(QuietHours {
                from: "22:00".parse().unwrap(),
                until: "07:00".parse().unwrap(),
                zone: zone.to_owned(),
            }),
            ..NotificationSettings::default()
        };
        for (zone, summer, winter) in [
            ("UTC", true, true),
            // 07:30 in summer, 06:30 in winter.
            ("Europe/Berlin", false, true),
            ("Asia/Tokyo", false, false),
            // The day before, 22:30 and 21:30.
            ("America/Los_Angeles", true, false),
            ("Nowhere/Land", false, false),
        ] {
            assert_eq!(is_quiet(&settings(zone), SUMMER), summer, "{zone}");
            assert_eq!(is_quiet(&settings(zone), WINTER), winter, "{zone}");
        }
        assert!(!is_quiet(&NotificationSettings::default(), SUMMER));
    }

    #[test]
    fn the_zones_of_the_world_are_known() {
        let zones = time_zones();
        for zone in ["Europe/Helsinki", "America/New_York", "UTC"] {
            assert!(zones.iter().any(|known| known == zone), "{zone}");
        }
    }
}
