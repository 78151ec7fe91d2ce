//! Sending mails.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

use crate::address::FromMailbox;
use crate::compose::{TextEncoding, compose};
use crate::config::{Config, Delivery};
use crate::error::{SendError, SetupError};
use crate::message::MailMessage;
use crate::outbox::Outbox;
use crate::smtp::Smtp;

/// Sends mails. A clone is the same mailer, with the same connections.
#[derive(Clone)]
pub struct Mailer(Arc<Shared>);

struct Shared {
    sender: FromMailbox,
    way: Way,
}

/// What became of a mail that was sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Receipt {
    /// A mail server has taken it.
    Taken {
        /// Its host and port.
        server: String,
        /// What it answered, on one line.
        answer: String,
    },
    /// It is a file.
    Written(PathBuf),
}

enum Way {
    Smtp(Box<Smtp>),
    Outbox(Arc<Outbox>),
}

impl Mailer {
    /// Looks at the configuration, reads the certificates it names, and makes the folder for
    /// mails. No connection is made yet.
    ///
    /// # Errors
    /// When no mail could ever be sent this way.
    pub fn new(config: Config) -> Result<Self, SetupError> {
        let sender = FromMailbox::parse(&config.from).map_err(|why| SetupError::From {
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

    /// Sends a mail, and answers when the mail server has taken it or its file is on the disk. To
    /// a mail server a few mails go at a time, others wait for their turn; each may take 60
    /// seconds from then on.
    ///
    /// A mail may have been sent although this fails: the mail server's last answer may be lost.
    /// When it is sent again it has the same `Message-ID`, by which mail programs recognise it.
    ///
    /// # Errors
    /// When the mail was not sent, as far as we know; [`SendError`] says whether to try again.
    pub async fn send(&self, message: &MailMessage) -> Result<Receipt, SendError> {
        #[expect(
            clippy::disallowed_methods,
            reason = "the Date header of a mail is the time of the machine"
        )]
        let now = SystemTime::now();
        match &self.0.way {
            Way::Smtp(smtp) => {
                let answer = smtp
                    .send(&compose(message, &self.0.sender, TextEncoding::Wire, now)?)
                    .await?;
                Ok(Receipt::Taken {
                    server: smtp.server(),
                    answer,
                })
            }
            Way::Outbox(outbox) => {
                let data = compose(message, &self.0.sender, TextEncoding::Readable, now)?.data;
                put(outbox, message, data, now).await.map(Receipt::Written)
            }
        }
    }

    /// Does what comes before a mail: reaches the mail server, encrypts the connection and signs
    /// in, on a connection of its own. Nothing is sent. Takes 60 seconds at most. A folder for
    /// mails is not looked at.
    ///
    /// # Errors
    /// When that fails; [`SendError::step`] says where.
    pub async fn check(&self) -> Result<(), SendError> {
        match &self.0.way {
            Way::Smtp(smtp) => smtp.check().await,
            Way::Outbox(_) => Ok(()),
        }
    }
}

async fn put(
    outbox: &Arc<Outbox>,
    message: &MailMessage,
    data: String,
    now: SystemTime,
) -> Result<PathBuf, SendError> {
    let (folder, id) = (Arc::clone(outbox), message.id.clone());
    let done = tokio::task::spawn_blocking(move || folder.put(&id, data.as_bytes(), now)).await;
    let failed = |why: String| {
        SendError::temporary(format!(
            "cannot write a mail into {}: {why}",
            outbox.folder().display()
        ))
    };
    let path = done
        .map_err(|error| failed(error.to_string()))?
        .map_err(|error| failed(error.to_string()))?;
    tracing::info!(to = %message.to, path = %path.display(), "no mail server is set up; mail is in the outbox");
    Ok(path)
}

impl fmt::Debug for Mailer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("Mailer");
        debug.field("from", &self.0.sender.address.to_string());
        match &self.0.way {
            Way::Smtp(smtp) => debug.field("server", &smtp.server()),
            Way::Outbox(outbox) => debug.field("outbox", &outbox.folder()),
        };
        debug.finish()
    }
}
