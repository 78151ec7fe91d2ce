//! The mail server: reached, encrypted and signed in to, and nothing sent.

use super::finding::Finding;
use crate::config::Settings;
use crate::mail;

pub(super) async fn check(settings: &Settings) -> Vec<Finding> {
    const CHECK: &str = "mail";
    let Some(host) = &settings.smtp_host else {
        return vec![Finding::warning(
            CHECK,
            "smtp_host",
            "no mail server is set up; mail is written into the folder outbox and not delivered",
            "Set smtp_host and mail_from.",
        )];
    };
    let mailer = match mail::mailing(settings) {
        Ok(mailing) => mailing.mailer,
        Err(error) => {
            let advice =
                "Correct the options about mail (smtp_host, smtp_security, smtp_ca, mail_from).";
            return vec![Finding::error(CHECK, host, error.to_string(), advice)];
        }
    };
    vec![match mailer.check().await {
        Ok(()) => Finding::ok(CHECK, host, done(settings)),
        Err(error) => {
            let advice = mail::advice(error.step);
            Finding::error(CHECK, host, error.text, advice)
        }
    }]
}

fn done(settings: &Settings) -> &'static str {
    match settings.smtp_user {
        Some(_) => "it is reached, and takes our password",
        None => "it is reached, without signing in",
    }
}
