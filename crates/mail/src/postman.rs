//! The postman, who takes letters and brings them on their way.

use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

use crate::address::Sender;
use crate::compose::{Form, compose};
use crate::config::{Config, Delivery};
use crate::error::{SendError, SetupError};
use crate::letter::Letter;
use crate::outbox::Outbox;
use crate::smtp::Smtp;

/// Sends letters. A clone is the same postman, with the same connections.
#[derive(Clone)]
pub struct Postman(Arc<Shared>);

struct Shared {
    sender: Sender,
    way: Way,
}

enum Way {
    Smtp(Box<Smtp>),
    Outbox(Arc<Outbox>),
}

impl Postman {
    /// Looks at the configuration, reads the certificates it names, and makes the folder for
    /// letters. No connection is made yet.
    ///
    /// # Errors
    /// When no letter could ever be sent this way.
    pub fn new(config: Config) -> Result<Self, SetupError> {
        let sender = Sender::parse(&config.from).map_err(|why| SetupError::From {
            from: config.from.clone(),
            why: why.to_owned(),
        })?;
        let way = match config.delivery {
            Delivery::Smtp(smtp) => Way::Smtp(Box::new(Smtp::new(&smtp, &sender.address)?)),
            Delivery::Outbox(path) => match Outbox::open(path.clone()) {
                Ok(outbox) => Way::Outbox(Arc::new(outbox)),
                Err(source) => return Err(SetupError::Outbox { path, source }),
            },
        };
        Ok(Self(Arc::new(Shared { sender, way })))
    }

    /// Sends a letter, and answers when the mail server has taken it or its file is on the disk. To
    /// a mail server a few letters go at a time, others wait for their turn; each may take 60
    /// seconds from then on.
    ///
    /// A letter may have been sent although this fails: the mail server's last answer may be lost.
    /// When it is sent again it has the same `Message-ID`, by which mail programs recognise it.
    ///
    /// # Errors
    /// When the letter was not sent, as far as we know; [`SendError`] says whether to try again.
    pub async fn send(&self, letter: &Letter) -> Result<(), SendError> {
        let now = SystemTime::now();
        match &self.0.way {
            Way::Smtp(smtp) => {
                smtp.send(&compose(letter, &self.0.sender, Form::Wire, now)?)
                    .await
            }
            Way::Outbox(outbox) => {
                let data = compose(letter, &self.0.sender, Form::Readable, now)?.data;
                put(outbox, letter, data, now).await
            }
        }
    }
}

async fn put(
    outbox: &Arc<Outbox>,
    letter: &Letter,
    data: String,
    now: SystemTime,
) -> Result<(), SendError> {
    let (folder, id) = (Arc::clone(outbox), letter.id.clone());
    let done = tokio::task::spawn_blocking(move || folder.put(&id, data.as_bytes(), now)).await;
    let failed = |why: String| {
        SendError::temporary(format!(
            "cannot write a letter into {}: {why}",
            outbox.folder().display()
        ))
    };
    let path = done
        .map_err(|error| failed(error.to_string()))?
        .map_err(|error| failed(error.to_string()))?;
    tracing::info!(to = %letter.to, path = %path.display(), "no mail server is set up; mail is in the outbox");
    Ok(())
}

impl fmt::Debug for Postman {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("Postman");
        debug.field("from", &self.0.sender.address.to_string());
        match &self.0.way {
            Way::Smtp(smtp) => debug.field("server", &smtp.server()),
            Way::Outbox(outbox) => debug.field("outbox", &outbox.folder()),
        };
        debug.finish()
    }
}
