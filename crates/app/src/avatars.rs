//! Users' pictures: drawn from their initials until they upload one. Nothing is fetched from
//! anywhere for them.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use eddyline_auth::{Secret, TokenHash};
use eddyline_avatars::{Picture, Refused, SIDES, kept_side};
use eddyline_model::log::Control;
use eddyline_random::{is_hex, to_hex};
use eddyline_storage::AvatarOf;
use eddyline_wire::User;
use quick_cache::Weighter;
use quick_cache::sync::Cache;

use crate::actor::Actor;
use crate::charging::current_keys;
use crate::core::Core;
use crate::quota::{KeyedSemaphore, Permit, Quota, QuotaKey};
use crate::unpacking::{COPIES, Unpacking, aside};
use crate::{Error, Limit, Result};

/// How many stored pictures are made smaller at once. Anybody may ask for them, so they never take
/// more than one core.
const SCALINGS: Quota = Quota::new(1, 1, 1);
/// How long a request waits for that before it is answered with the picture as it is stored.
const SCALING_WAIT: Duration = Duration::from_secs(2);
/// The side of the largest picture that is stored.
const STORED_SIDE: u32 = *SIDES.end();
/// How many bytes of pictures are cached.
const REMEMBERED_BYTES: u64 = 16 * 1024 * 1024;
/// About how many pictures that is.
const REMEMBERED: usize = 2000;

/// A picture, ready to be sent.
#[derive(Clone, Debug)]
pub struct Avatar {
    /// Its kind: `image/svg+xml`, `image/png` or `image/jpeg`.
    pub content_type: String,
    /// The file.
    pub bytes: Bytes,
    /// Differs for pictures that differ.
    pub tag: String,
    /// Whether this address shows this picture for good. A drawn one changes with the user's name.
    pub lasting: bool,
}

/// Bounds concurrent scaling and caches scaled pictures.
pub(crate) struct Gallery {
    scalings: KeyedSemaphore,
    scaled: Cache<(String, u32), Scaled, ByBytes>,
}

/// A stored picture in some size.
#[derive(Clone)]
struct Scaled {
    content_type: String,
    bytes: Bytes,
}

impl Scaled {
    /// The picture of this name in this size.
    fn named(self, name: &str, side: u32) -> Avatar {
        let Self {
            content_type,
            bytes,
        } = self;
        Avatar {
            content_type,
            bytes,
            tag: format!("{name}-{side}"),
            lasting: true,
        }
    }
}

impl Default for Gallery {
    fn default() -> Self {
        Self {
            scalings: KeyedSemaphore::new(SCALINGS),
            scaled: Cache::with_weighter(REMEMBERED, REMEMBERED_BYTES, ByBytes),
        }
    }
}

#[derive(Clone)]
struct ByBytes;

impl Weighter<(String, u32), Scaled> for ByBytes {
    fn weight(&self, _: &(String, u32), picture: &Scaled) -> u64 {
        picture.bytes.len() as u64 + 200
    }
}

/// The pictures of users. See [`crate::App::avatars`].
#[derive(Clone)]
pub struct Avatars {
    core: Core,
    gallery: Arc<Gallery>,
    unpacking: Arc<Unpacking>,
}

crate::core::opaque_debug!(Avatars);

impl Avatars {
    pub(crate) fn new(core: Core, unpacking: Arc<Unpacking>) -> Self {
        Self {
            core,
            gallery: Arc::default(),
            unpacking,
        }
    }

    /// The picture of this name, about `side` pixels wide and high. For anybody.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`] when no user's picture has that name now.
    pub async fn get(&self, name: &str, side: Option<u32>) -> Result<Avatar> {
        if !is_hex(name, 32) {
            return Err(Error::not_found());
        }
        let wanted = name.to_owned();
        let found = self
            .core
            .store()
            .read(move |reader| reader.users().find_avatar(&wanted))
            .await?;
        match found.ok_or_else(Error::not_found)? {
            AvatarOf { uploaded: true, .. } => self.uploaded(name, side).await,
            AvatarOf { user, name, .. } => {
                let drawing = eddyline_avatars::draw(&name, &user.to_string(), side);
                let TokenHash(digest) = TokenHash::of(&drawing);
                Ok(Avatar {
                    content_type: "image/svg+xml".to_owned(),
                    tag: to_hex(&digest[..8]),
                    bytes: drawing.into(),
                    lasting: false,
                })
            }
        }
    }

    async fn uploaded(&self, name: &str, side: Option<u32>) -> Result<Avatar> {
        // The stored one is the largest there is.
        let side = side.map_or(STORED_SIDE, kept_side);
        let (gallery, key) = (&self.gallery, (name.to_owned(), side));
        if let Some(picture) = gallery.scaled.get(&key) {
            return Ok(picture.named(name, side));
        }
        if side == STORED_SIDE {
            return Ok(self.cached(name).await?.named(name, side));
        }
        let keys = current_keys().unwrap_or(QuotaKey::Outsiders.into());
        let permit = gallery.scalings.acquire_within(keys, 1, SCALING_WAIT);
        let Ok(permit) = permit.await else {
            // It is larger than was asked for, and costs no computing.
            return Ok(Avatar {
                lasting: false,
                ..self.cached(name).await?.named(name, STORED_SIDE)
            });
        };
        // Another request may have scaled it meanwhile.
        let picture = match gallery.scaled.get(&key) {
            Some(picture) => picture,
            None => self.scale(permit, name, side).await?,
        };
        gallery.scaled.insert(key, picture.clone());
        Ok(picture.named(name, side))
    }

    /// The picture as it is stored, which requests that come at the same time share.
    async fn cached(&self, name: &str) -> Result<Scaled> {
        let (scaled, key) = (&self.gallery.scaled, (name.to_owned(), STORED_SIDE));
        if let Some(picture) = scaled.get(&key) {
            return Ok(picture);
        }
        let picture = self.stored(name).await?;
        scaled.insert(key, picture.clone());
        Ok(picture)
    }

    async fn stored(&self, name: &str) -> Result<Scaled> {
        let name = name.to_owned();
        let stored = self
            .core
            .store()
            .read(move |reader| reader.users().find_uploaded_avatar(&name))
            .await?;
        let (content_type, bytes) = stored.ok_or_else(Error::not_found)?;
        Ok(Scaled {
            content_type,
            bytes: bytes.into(),
        })
    }

    /// Loads the picture only with the permit, so that requests that wait hold no pictures.
    async fn scale(&self, permit: Permit, name: &str, side: u32) -> Result<Scaled> {
        let Scaled { bytes, .. } = self.stored(name).await?;
        let Picture {
            content_type,
            bytes,
            ..
        } = aside(permit, move || eddyline_avatars::scale(&bytes, side))
            .await?
            .map_err(|refused| Error::internal(format!("a stored picture {refused}")))?;
        Ok(Scaled {
            content_type: content_type.to_owned(),
            bytes: bytes.into(),
        })
    }

    /// Makes an uploaded file the caller's picture: a square of at most 512 pixels a side, with
    /// nothing else of the file left.
    ///
    /// # Errors
    ///
    /// [`Error::invalid`] for what is no picture or too large a one, [`Error::too_many_requests`]
    /// and [`Error::unavailable`] when too many pictures are being unpacked.
    pub async fn set(&self, actor: &Actor, file: Bytes) -> Result<User> {
        let id = actor.user()?.user.id;
        let invalid = |refused: Refused| Error::invalid("avatar", refused.to_string());
        let needed =
            eddyline_avatars::memory_needed(&file).map_err(invalid)? + COPIES * file.len() as u64;
        let reserved = self
            .unpacking
            .reserve(actor.quota_keys(), needed)
            .await
            .map_err(|exceeded| exceeded.of(Limit::Pictures))?;
        let picture = aside(reserved, move || eddyline_avatars::accept(&file))
            .await?
            .map_err(invalid)?;
        let name = new_name();
        let (user, event) = self
            .core
            .transaction_as(actor, move |tx, _| {
                tx.users()
                    .set_avatar(id, &name, picture.content_type, &picture.bytes)?;
                tx.record_event(Control::UserEdit { user: id });
                Ok(tx.users().find(id)?.ok_or_else(Error::not_found)?)
            })
            .await?;
        self.core.wait_until_applied(event).await;
        Ok(User::of(&user, &self.core.config().addresses.base))
    }

    /// Whether the caller has uploaded a picture.
    ///
    /// # Errors
    ///
    /// [`Error::denied`] for flow tokens.
    pub async fn has_uploaded(&self, actor: &Actor) -> Result<bool> {
        let name = actor.user()?.user.avatar.clone();
        let found = self
            .core
            .store()
            .read(move |reader| reader.users().find_avatar(&name))
            .await?;
        Ok(found.is_some_and(|avatar| avatar.uploaded))
    }

    /// Goes back to the drawn picture. Doing it twice does nothing.
    ///
    /// # Errors
    ///
    /// [`Error::denied`] for flow tokens.
    pub async fn delete(&self, actor: &Actor) -> Result<()> {
        let id = actor.user()?.user.id;
        let name = new_name();
        let ((), event) = self
            .core
            .transaction_as(actor, move |tx, _| {
                if tx.users().delete_avatar(id, &name)? {
                    tx.record_event(Control::UserEdit { user: id });
                }
                Ok(())
            })
            .await?;
        self.core.wait_until_applied(event).await;
        Ok(())
    }
}

/// A name that no picture had before, so that a cache of pictures by their address shows no old
/// one.
fn new_name() -> String {
    Secret::generate_hex::<16>().expose().to_owned()
}
