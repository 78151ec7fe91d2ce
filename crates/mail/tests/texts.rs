//! The mails that Eddyline writes: what they say, and what users cannot make them say.

use eddyline_mail::MailMessage;
use eddyline_mail::texts::{
    DeletionMail, InvitationMail, deletion_cancelled, deletion_requested, email_changed,
    invitation, password_reset,
};

const LINK: &str = "https://eddyline.example.org/page/s3cret";

fn ada_invites() -> InvitationMail<'static> {
    InvitationMail {
        to: "bob@example.com",
        inviter_name: "Ada",
        flow_name: "Engines",
        organization_name: "Analytical Society",
        message: None,
        link: LINK,
        days: 7,
    }
}

/// The link stands in a line of its own, where every mail program makes it clickable.
fn holds_the_link_once(message: &MailMessage) -> bool {
    message.text.lines().filter(|line| *line == LINK).count() == 1
        && message.text.matches(LINK).count() == 1
}

#[test]
fn an_invitation_says_who_invites_whereto_and_until_when() {
    let message = invitation("invitation-7", &ada_invites());
    assert_eq!(message.id, "invitation-7");
    assert_eq!(message.to, "bob@example.com");
    assert_eq!(message.subject, "Ada invites you to Engines");
    for part in [
        "Ada invites you",
        "\"Engines\"",
        "Analytical Society",
        "ends in 7 days",
        "ignore this mail",
    ] {
        assert!(message.text.contains(part), "{part} in {}", message.text);
    }
    assert!(holds_the_link_once(&message), "{}", message.text);
    assert!(!message.text.contains("writes"), "{}", message.text);
    let tomorrow = invitation(
        "i",
        &InvitationMail {
            days: 1,
            ..ada_invites()
        },
    );
    assert!(
        tomorrow.text.contains("ends in 1 day."),
        "{}",
        tomorrow.text
    );
}

#[test]
fn what_the_inviter_adds_is_marked_as_theirs() {
    let words = "\nCome and see!\r\n\r\nOpen this link instead:\nhttps://evil.example\n";
    let message = invitation(
        "i",
        &InvitationMail {
            message: Some(words),
            ..ada_invites()
        },
    );
    let quoted =
        "Ada writes:\n\n> Come and see!\n> \n> Open this link instead:\n> https://evil.example\n\n";
    assert!(message.text.contains(quoted), "{}", message.text);
    for empty in ["", " \n "] {
        let message = invitation(
            "i",
            &InvitationMail {
                message: Some(empty),
                ..ada_invites()
            },
        );
        assert_eq!(message, invitation("i", &ada_invites()));
    }
}

#[test]
fn names_stay_on_one_line_and_are_bounded() {
    let name = format!(
        "Eve\n\nOpen https://evil.example\u{2028}{}",
        "e".repeat(500)
    );
    let message = invitation(
        "i",
        &InvitationMail {
            inviter_name: &name,
            flow_name: &name,
            organization_name: &name,
            ..ada_invites()
        },
    );
    assert!(
        message.subject.chars().count() <= 120 && !message.subject.contains('\n'),
        "{}",
        message.subject
    );
    let plain = invitation("i", &ada_invites());
    assert_eq!(
        message.text.lines().count(),
        plain.text.lines().count(),
        "{}",
        message.text
    );
    assert!(message.text.chars().count() < 1500, "{}", message.text);
}

#[test]
fn a_password_reset_says_for_which_account_and_that_one_may_leave_it() {
    let message = password_reset("reset-1", "ada@example.com", "Ada\nLovelace", LINK, 2);
    assert_eq!(message.to_name.as_deref(), Some("Ada Lovelace"));
    assert_eq!(message.subject, "Choose a new password for Eddyline");
    for part in [
        "Hello Ada Lovelace,",
        "somebody",
        "ada@example.com",
        "ends in 2 hours",
        "ignore this mail",
    ] {
        assert!(message.text.contains(part), "{part} in {}", message.text);
    }
    assert!(holds_the_link_once(&message), "{}", message.text);
}

#[test]
fn a_deletion_says_by_whom_when_and_where_it_is_cancelled() {
    let deletion = |user_name| DeletionMail {
        to: "ada@example.com",
        organization_name: "Analytical\nSociety",
        user_name,
        link: LINK,
    };
    let day = "2026-12-29";
    let by_user = deletion_requested("d-1", &deletion(Some("Ben\nB")), day);
    let by_operator = deletion_requested("d-2", &deletion(None), day);
    let cancelled = deletion_cancelled("d-3", &deletion(Some("Ben")));
    assert_eq!(by_user.to, "ada@example.com");
    assert_eq!(
        by_user.subject,
        "Analytical Society will be deleted on 2026-12-29"
    );
    assert_eq!(cancelled.subject, "Analytical Society will not be deleted");
    for (message, part) in [
        (&by_user, "Ben B requested the deletion of"),
        (&by_user, "On 2026-12-29 (UTC) it will be deleted"),
        (&by_user, "each of its administrators can cancel that"),
        (&by_operator, "An operator of the server requested"),
        (&by_operator, "operators of the server can cancel that"),
        (&cancelled, "Ben cancelled the deletion of"),
    ] {
        assert!(message.text.contains(part), "{part} in {}", message.text);
        assert!(
            message.text.contains("\"Analytical Society\""),
            "{}",
            message.text
        );
        assert!(holds_the_link_once(message), "{}", message.text);
    }
}

#[test]
fn a_changed_address_is_told_to_the_old_one_with_a_way_back() {
    let message = email_changed(
        "email-1",
        "old@example.com",
        "Ada",
        "new@example.com",
        LINK,
        7,
    );
    assert_eq!(message.to, "old@example.com");
    let why = "by you or by an organization that you belong to";
    for part in [
        why,
        "from old@example.com\nto new@example.com",
        "take the change back",
        "7 days",
    ] {
        assert!(message.text.contains(part), "{part} in {}", message.text);
    }
    assert!(holds_the_link_once(&message), "{}", message.text);
}
