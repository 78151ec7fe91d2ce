//! What the demonstration prints at its start.

use std::io::Write as _;
use std::path::Path;

use eddyline_app::{App, Password, Secret};
use eddyline_model::mail::SIGN_IN_MINUTES;
use eddyline_model::names::Email;

use super::company::Persona;
use super::{MAIN, ORGANIZATION};
use crate::CommandError;

/// What opens the account of the administrator. All of it is random, and made anew at each start.
pub(super) struct Welcome {
    token: Secret,
    password: Secret,
    /// The address of a page that signs in, once.
    link: String,
}

impl Welcome {
    pub(super) async fn prepare(app: &App) -> Result<Self, CommandError> {
        let email: Email = Persona::Ada.email().parse()?;
        let password = Secret::generate();
        app.operator()
            .set_password(&email, &Password::new(password.expose()))
            .await?;
        let (_, token) = app.operator().create_user_token(&email).await?;
        let link = app.operator().create_sign_in_link(&email).await?;
        Ok(Self {
            token,
            password,
            link,
        })
    }
}

/// Says what there is and how to get in.
pub(super) fn print(app: &App, welcome: &Welcome, mailbox: &Path) -> Result<(), CommandError> {
    let addresses = &app.config().addresses;
    let (base, stream, web) = (&addresses.base, &addresses.stream, &addresses.web);
    let Welcome {
        token,
        password,
        link,
    } = welcome;
    let (token, password) = (token.expose(), password.expose());
    let email = Persona::Ada.email();
    let mailbox = mailbox.display();
    let mut out = std::io::stdout().lock();
    writeln!(
        out,
        "Eddyline is running with an organization to try things on. Its people are invented;\n\
         they talk, and answer what you write.\n\
         \n\
         Open this first; the link works once, within {SIGN_IN_MINUTES} minutes:\n\
         \x20 {link}\n\
         \n\
         API:        {base}\n\
         Stream:     {stream}\n\
         API docs:   {base}/api\n\
         Pages:      {web}/sign-in\n\
         Sign-in:    {email} with password {password}\n\
         API token:  {token}\n\
         \n\
         Post a message:\n\
         \x20 curl -u {token}: -H 'Content-Type: application/json' -d '{{\"event\":\"message\",\"content\":\"Hello from curl #demo\"}}' {base}/flows/{ORGANIZATION}/{MAIN}/messages\n\
         \n\
         List the latest messages:\n\
         \x20 curl -u {token}: '{base}/flows/{ORGANIZATION}/{MAIN}/messages?limit=5'\n\
         \n\
         Listen (something happens every few seconds):\n\
         \x20 curl -N -u {token}: {stream}/flows/{ORGANIZATION}/{MAIN}\n\
         \n\
         Invite somebody (the mail, with its link, is put into {mailbox}):\n\
         \x20 curl -u {token}: -d email=you@example.com {base}/flows/{ORGANIZATION}/{MAIN}/invitations\n\
         \n\
         For the commands of the README:\n\
         \x20 export BASE={base} STREAM={stream} TOKEN={token} FLOW={ORGANIZATION}/{MAIN}\n\
         \n\
         Stop with Ctrl-C."
    )?;
    out.flush()?;
    Ok(())
}
