//! The operator's commands about the key that secrets are sealed with, and their answers.

use std::fmt::{self, Display};

use eddyline_app::{RenewedSecret, renew_secret_key};
use serde::Serialize;

use super::{explain, place, print};
use crate::cli::SecretKeyCommand;
use crate::config::Settings;
use crate::secret_key::KeyLookup;
use crate::{CommandError, secret_key, serve};

/// Carries out one command and prints its answer.
pub(super) async fn run(
    settings: &Settings,
    command: &SecretKeyCommand,
    json: bool,
) -> Result<(), CommandError> {
    match command {
        SecretKeyCommand::Reset => reset(settings, json).await,
    }
}

async fn reset(settings: &Settings, json: bool) -> Result<(), CommandError> {
    place::check(settings, false).await?;
    let store = serve::open_current_store(settings).await?;
    let found = secret_key::find(settings)?;
    let made = match &found {
        KeyLookup::Missing(path) => Some(path.clone()),
        KeyLookup::Given(_) | KeyLookup::InDatabase => None,
    };
    let key = found.or_made()?;
    let renewed = renew_secret_key(&store, key.as_ref()).await;
    store.close().await;
    let renewed = renewed.map_err(|error| {
        // It would stand in the way of the one that is put back.
        if let Some(path) = made {
            let _ = std::fs::remove_file(path);
        }
        explain(error, "the database")
    })?;
    print(
        &Reset {
            applications: renewed.into_iter().map(Renewed::of).collect(),
        },
        json,
    )
}

/// An application with a new secret.
#[derive(Serialize)]
struct Renewed {
    /// The number as text, as it stands in resources.
    id: String,
    name: String,
    client_id: String,
    client_secret: String,
}

impl Renewed {
    fn of(renewed: RenewedSecret) -> Self {
        Self {
            id: renewed.id.to_string(),
            name: renewed.name,
            client_id: renewed.client_id,
            client_secret: renewed.secret.expose().to_owned(),
        }
    }
}

/// `secret-key reset` has been done.
#[derive(Serialize)]
struct Reset {
    applications: Vec<Renewed>,
}

impl Display for Reset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secrets are sealed with the present key now.")?;
        if self.applications.is_empty() {
            return Ok(());
        }
        write!(
            f,
            " These applications have new ones, which are not shown again:"
        )?;
        for Renewed {
            name,
            client_id,
            client_secret,
            ..
        } in &self.applications
        {
            write!(
                f,
                "\n{name}\n  Client id:     {client_id}\n  Client secret: {client_secret}"
            )?;
        }
        Ok(())
    }
}
