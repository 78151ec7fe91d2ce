//! The areas of the texts, one struct each.

use serde::Deserialize;

use super::{Phrase, Plural};

/// Declares structs of texts. What a file has beside their fields is a mistake.
macro_rules! texts {
    ($($(#[$about:meta])* $name:ident { $($field:ident: $kind:ty,)* })*) => {$(
        $(#[$about])*
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        pub(crate) struct $name {
            $(pub(crate) $field: $kind,)*
        }
    )*};
}

texts! {
    /// All areas but `script`.
    Areas {
        locale: Locale,
        both: Both,
        keys: Keys,
        shell: Shell,
        tools: Tools,
        language_choice: LanguageChoice,
        error: Errors,
    }

    /// How dates and numbers are written.
    Locale {
        decimal: String,
    }

    /// What the pages and the script both say.
    Both {
        edited: String,
        deleted: String,
    }

    /// What is printed on keys.
    Keys {
        ctrl: String,
    }

    /// What stands around every page of the client.
    Shell {
        skip: String,
        jump: String,
        search: String,
        mentions: String,
        behind_unread: String,
        behind_mentions: String,
        flows: String,
        all_flows: String,
        private: String,
        notifications: String,
        account: String,
        new_messages: String,
        offline: String,
    }

    /// What can be done with a message.
    Tools {
        all: String,
        reply: String,
        react: String,
        tags: String,
        edit: String,
        delete: String,
    }

    /// A page with a title and a text.
    Told {
        title: String,
        text: String,
    }

    /// What goes wrong with pages. Of some, the application says more.
    Errors {
        to_start: String,
        too_many_pages: String,
        invalid_authorization: Told,
        cannot_join: Told,
        not_allowed: Told,
        wrong_method: Told,
        invalid_link: Told,
        forged: Told,
        invalid_address: Told,
        invalid_code: Told,
        invalid: String,
        conflict: String,
        mail_quota: String,
        again_in: Phrase,
        minutes: Plural,
        hours: Plural,
        integration: String,
        file_quota: String,
        malformed: Told,
        too_large: Told,
        unauthenticated: Told,
        denied: Told,
        not_found: Told,
        too_many_attempts: Told,
        unavailable: Told,
        deadline: Told,
        disk_full: Told,
        internal: Told,
    }

    /// The choice of a language.
    LanguageChoice {
        title: String,
        label: String,
        by_browser: String,
        hint: String,
        save: String,
        saved: String,
    }
}
