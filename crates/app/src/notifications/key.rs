//! The key by which push services know this server.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use eddyline_auth::{SealingKey, Secret};
use eddyline_webpush::ServerKey;

use crate::core::transaction::{Database, NoCaller};
use crate::{Error, Result, shared_setting};

/// The setting that has it, sealed.
const SETTING: &str = "push_key";
/// What it is sealed for.
const OWNER: &str = "push key";

/// The key that all processes share. Where it cannot be opened, since the key that it was sealed
/// with is lost, another takes its place; the browsers that knew the old one subscribe anew.
pub(crate) async fn server_key(store: &Database, sealing: &SealingKey) -> Result<ServerKey> {
    let kept = shared_setting(store, SETTING, || new_key(sealing)).await?;
    if let Some(key) = open(sealing, &kept) {
        return Ok(key);
    }
    let new = new_key(sealing);
    store
        .write(NoCaller::Process, move |tx| {
            if tx.settings().set_unchanged(SETTING, &kept, &new)? {
                tx.notifications().delete_all_subscriptions()?;
            }
            Ok(())
        })
        .await?;
    let kept = shared_setting(store, SETTING, || new_key(sealing)).await?;
    open(sealing, &kept)
        .ok_or_else(|| Error::internal("the key for push messages cannot be opened"))
}

fn new_key(sealing: &SealingKey) -> Vec<u8> {
    let text = STANDARD.encode(ServerKey::generate_pkcs8());
    sealing.seal(OWNER, &Secret::presented(text))
}

fn open(sealing: &SealingKey, sealed: &[u8]) -> Option<ServerKey> {
    let text = sealing.open(OWNER, sealed)?;
    let bytes = STANDARD.decode(text.expose()).ok()?;
    ServerKey::from_pkcs8(&bytes).ok()
}
