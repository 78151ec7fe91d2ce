//! The key that secrets are sealed with, and whether it is the one that the database was used with.

use eddyline_auth::{DownloadKey, SealingKey, Secret};
use eddyline_model::ApplicationId;
use eddyline_model::audit::{AuditAction, AuditEntry};
use eddyline_storage::{
    Error as StoreError, Reader, Result as StoreResult, SECRET_KEY_SETTING, SILENCE_MILLIS, Store,
    Tx,
};
use serde_json::json;

use crate::config::KeyMaterial;
use crate::core::transaction::TxResult;
use crate::core::transaction::{Database, NoCaller};
use crate::{Error, Result, shared_setting};

/// What is sealed to tell later whether a key is the same.
const PROOF: &str = "sealing key";
/// The setting that has it.
const PROOF_SETTING: &str = "sealing_proof";
/// How many applications are named in a text.
const NAMED: usize = 5;

/// Opens the key that secrets are sealed with, and makes sure that it is the one that the database
/// knows; beside it the one that links to files are signed with, which follows from the same bytes.
/// Where nothing is sealed and no server runs, another key takes the place of the one before.
///
/// # Errors
///
/// [`Error::conflict`] for another key otherwise.
pub(crate) async fn keys(
    store: &Database,
    material: Option<&KeyMaterial>,
) -> Result<(SealingKey, DownloadKey)> {
    let (key, links) = derive(store, material).await?;
    let new_proof = || prove(&key);
    let proof = shared_setting(store, PROOF_SETTING, new_proof).await?;
    if key.open(PROOF, &proof).is_none() {
        let new_proof = new_proof();
        store
            .transaction(NoCaller::Process, move |tx| adopt(tx, &new_proof))
            .await
            .map_err(Error::from)?;
    }
    Ok((key, links))
}

async fn derive(
    store: &Database,
    material: Option<&KeyMaterial>,
) -> Result<(SealingKey, DownloadKey)> {
    let bytes = match material {
        Some(KeyMaterial(bytes)) => bytes.clone(),
        None => {
            let new_key = || Secret::generate_long().expose().as_bytes().to_vec();
            shared_setting(store, SECRET_KEY_SETTING, new_key).await?
        }
    };
    let too_short =
        |error: eddyline_auth::seal::TooShort| Error::conflict(format!("the secret key: {error}"));
    Ok((
        SealingKey::derive(&bytes).map_err(too_short)?,
        DownloadKey::derive(&bytes).map_err(too_short)?,
    ))
}

fn prove(key: &SealingKey) -> Vec<u8> {
    key.seal(PROOF, &Secret::presented(PROOF))
}

fn adopt(tx: &mut Tx<'_>, proof: &[u8]) -> TxResult<()> {
    if let Some(sealed) = sealed(tx)? {
        let text = format!("the secret key is another than the one that {sealed} were sealed with");
        return Err(Error::conflict(text).into());
    }
    if is_served(tx)? {
        let text = "the secret key is another than the one of a server that runs on this database, or was killed \
                    less than 12 seconds ago";
        return Err(Error::conflict(text).into());
    }
    Ok(tx.settings().upsert(PROOF_SETTING, proof)?)
}

/// Whether a server runs on the database.
fn is_served(tx: &mut Tx<'_>) -> StoreResult<bool> {
    let since = tx.now().plus_millis(-SILENCE_MILLIS);
    Ok(tx.nodes().count(since)? > 0)
}

/// What is sealed, for a text; `None` for nothing.
fn sealed(reader: &mut Reader<'_>) -> StoreResult<Option<String>> {
    let count = reader.applications().count_sealed_secrets()?;
    if count == 0 {
        return Ok(None);
    }
    let mut names = Vec::new();
    let mut after = ApplicationId(0);
    while names.len() < NAMED {
        let page = reader.applications().list_page(None, after, NAMED as i64)?;
        let Some(last) = page.last() else { break };
        after = last.id;
        names.extend(
            page.into_iter()
                .filter(|known| !known.public)
                .map(|known| known.name),
        );
    }
    names.truncate(NAMED);
    let more = if count > names.len() as i64 {
        ", …"
    } else {
        ""
    };
    let plural = if count == 1 { "" } else { "s" };
    Ok(Some(format!(
        "the secrets of {count} application{plural} ({}{more})",
        names.join(", ")
    )))
}

/// What is sealed in a database, as a text such as "the secrets of 2 applications (Calendar,
/// Robot)"; `None` when nothing is, so that any key will do.
///
/// # Errors
///
/// [`Error::unavailable`].
pub async fn what_is_sealed(store: &Store) -> Result<Option<String>> {
    Ok(store.read(sealed).await?)
}

/// Makes sure that a secret is sealed with the key of the database, in the transaction that keeps
/// it.
///
/// # Errors
///
/// [`StoreError::Refused`] when another process replaced the key meanwhile.
pub(super) fn check_key(reader: &mut Reader<'_>, key: &SealingKey) -> StoreResult<()> {
    match is_present(reader, key)? {
        true => Ok(()),
        false => Err(StoreError::Refused(
            "the secret key was replaced; the server must be started again",
        )),
    }
}

/// Whether it is the key that the database is used with.
fn is_present(reader: &mut Reader<'_>, key: &SealingKey) -> StoreResult<bool> {
    let proof = reader.settings().find(PROOF_SETTING)?;
    Ok(proof.is_some_and(|proof| key.open(PROOF, &proof).is_some()))
}

/// The new secret of an application whose former one cannot be opened any more.
#[derive(Clone, Debug)]
pub struct RenewedSecret {
    /// The application.
    pub id: ApplicationId,
    /// What it calls itself by.
    pub client_id: String,
    /// The name that users see.
    pub name: String,
    /// The secret, which is shown here only.
    pub secret: Secret,
}

/// Gives up everything that was sealed with a key that is lost: each application with a secret gets
/// another one, sealed with the present key. Tokens stay.
///
/// # Errors
///
/// [`Error::conflict`] when nothing is lost, and while a server runs on the database.
pub async fn renew_secret_key(
    store: &Store,
    material: Option<&KeyMaterial>,
) -> Result<Vec<RenewedSecret>> {
    let store = Database::new(store.clone());
    let (key, _) = derive(&store, material).await?;
    let (renewed, _) = store
        .transaction(NoCaller::Operator, move |tx| {
            if is_present(tx, &key)? {
                let text = "this secret key opens everything that was sealed; there is nothing to reset";
                return Err(Error::conflict(text).into());
            }
            if is_served(tx)? {
                let text = "a server runs on this database, or was killed less than 12 seconds ago; stop it first, or wait";
                return Err(Error::conflict(text).into());
            }
            let mut renewed = Vec::new();
            let mut after = ApplicationId(0);
            loop {
                let page = tx.applications().list_page(None, after, 500)?;
                let Some(last) = page.last() else { break };
                after = last.id;
                for known in page.into_iter().filter(|known| !known.public) {
                    renewed.extend(renew(tx, &key, known.id)?);
                }
            }
            tx.settings().upsert(PROOF_SETTING, &prove(&key))?;
            let ids: Vec<i64> = renewed.iter().map(|one| one.id.0).collect();
            let entry = AuditEntry::new(AuditAction::SecretKeyReset, None);
            tx.audit()
                .insert(&entry.with(json!({"applications": ids})))?;
            Ok::<_, eddyline_storage::Abort<Error>>(renewed)
        })
        .await
        .map_err(Error::from)?;
    Ok(renewed)
}

fn renew(
    tx: &mut Tx<'_>,
    key: &SealingKey,
    id: ApplicationId,
) -> StoreResult<Option<RenewedSecret>> {
    let Some(known) = tx.applications().lock(id)? else {
        return Ok(None);
    };
    let secret = Secret::generate_long();
    tx.applications()
        .set_secret(id, &key.seal(&known.client_id, &secret))?;
    Ok(Some(RenewedSecret {
        id,
        client_id: known.client_id,
        name: known.name,
        secret,
    }))
}
