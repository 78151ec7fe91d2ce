//! Browsers that take push messages. Each belongs to the session in which its user asked for them,
//! and ends with it.

use eddyline_auth::TokenHash;
use eddyline_model::UserId;
use eddyline_outbound::{Error as OutboundError, check_url, is_private_host};
use eddyline_storage::{PushSubscription, Result as StoreResult, Tx};
use eddyline_webpush::{BrowserKeys, InvalidKeys};
use url::Url;

use super::Notifications;
use super::queueing::CURSOR_SETTING;
use crate::actor::{Actor, Credential};
use crate::{Error, FieldErrors, Result};

/// How many browsers of one user take push messages. Another one takes the place of the oldest.
pub const MAX_SUBSCRIPTIONS: usize = 20;

/// The most bytes of the address of a push service's subscription.
const MAX_ENDPOINT: usize = 2048;

/// A subscription as a browser gives it (`PushSubscription.toJSON()`, Push API).
#[derive(Clone, Copy, Debug)]
pub struct NewSubscription<'a> {
    /// The address to send to.
    pub endpoint: &'a str,
    /// The public key of the browser, in base64 for URLs.
    pub p256dh: &'a str,
    /// The secret of the browser, in base64 for URLs.
    pub auth: &'a str,
}

impl Notifications {
    /// The public key with which browsers subscribe (`applicationServerKey`, Push API).
    #[must_use]
    pub fn public_key(&self) -> String {
        self.key.public_key()
    }

    /// Sends push messages to the browser of the caller's session from now on. What was known of
    /// that browser before is forgotten, also when it was another user's.
    ///
    /// # Errors
    ///
    /// [`Error::invalid`], [`Error::denied`] for callers without a session.
    pub async fn subscribe(&self, actor: &Actor, new: NewSubscription<'_>) -> Result<()> {
        let (session, user) = session(actor)?;
        let keys = self.check(new)?;
        let new = PushSubscription {
            session: session.0.to_vec(),
            user,
            endpoint: new.endpoint.to_owned(),
            p256dh: keys.p256dh().to_vec(),
            auth: keys.auth().to_vec(),
        };
        self.core
            .transaction_as(actor, move |tx, _| Ok(subscribe(tx, &new)?))
            .await?;
        Ok(())
    }

    /// Sends no more push messages to the browser of the caller's session.
    ///
    /// # Errors
    ///
    /// [`Error::denied`] for callers without a session.
    pub async fn unsubscribe(&self, actor: &Actor) -> Result<()> {
        let (session, _) = session(actor)?;
        self.core
            .transaction_as(actor, move |tx, _| {
                Ok(tx.notifications().delete_subscription(&session.0)?)
            })
            .await?;
        Ok(())
    }

    fn check(&self, new: NewSubscription<'_>) -> Result<BrowserKeys> {
        let wrong = |name: &str, text: &str| {
            let errors = FieldErrors::from([(name.to_owned(), vec![text.to_owned()])]);
            Error::invalid_fields(errors)
        };
        if new.endpoint.len() > MAX_ENDPOINT {
            return Err(wrong("endpoint", "is too long (maximum is 2048 bytes)"));
        }
        // Where private addresses may be reached, so may servers without TLS.
        let schemes: &[&str] = match self.core.config().outbound.allow_private {
            true => &["https", "http"],
            false => &["https"],
        };
        let url = Url::parse(new.endpoint).ok();
        let url = url.filter(|url| schemes.contains(&url.scheme()));
        let Some(host) = url.as_ref().and_then(Url::host) else {
            return Err(wrong(
                "endpoint",
                "is not the https address of a push service",
            ));
        };
        if !self.core.config().outbound.allow_private && is_private_host(&host) {
            // Nothing would ever be sent there.
            return Err(wrong("endpoint", "leads to an address that is not public"));
        }
        if let Err(OutboundError::BadUrl(text)) = check_url(new.endpoint) {
            return Err(wrong("endpoint", text));
        }
        BrowserKeys::parse(new.p256dh, new.auth).map_err(|error| match error {
            InvalidKeys::Public => wrong("p256dh", "is not a public key"),
            InvalidKeys::Auth => wrong("auth", "is not a secret of 16 bytes"),
        })
    }
}

fn subscribe(tx: &mut Tx<'_>, new: &PushSubscription) -> StoreResult<()> {
    // Held, so that a user who subscribes twice at once does not pass the limit.
    tx.users().lock(new.user)?;
    if !tx.notifications().has_subscriptions()? {
        // Nothing was looked for in the log so far. What is in it now is nothing new.
        let head = tx.log().find_head()?.seq;
        tx.settings()
            .upsert(CURSOR_SETTING, &head.0.to_be_bytes())?;
    }
    let now = tx.now();
    tx.notifications().insert_subscription(new, now)?;
    let all = tx.notifications().list_subscribers(&[new.user])?;
    let others = all.iter().filter(|one| one.session != new.session);
    for oldest in others.skip(MAX_SUBSCRIPTIONS - 1) {
        tx.notifications().delete_subscription(&oldest.session)?;
    }
    Ok(())
}

pub(crate) fn session(actor: &Actor) -> Result<(TokenHash, UserId)> {
    match actor.credential() {
        Some(Credential::Session(session)) => Ok((session, actor.user()?.user.id)),
        _ => Err(Error::denied()),
    }
}
