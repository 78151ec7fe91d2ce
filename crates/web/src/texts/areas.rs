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
        composer: Composer,
        row: Row,
        dialogs: Dialogs,
        key_map: KeyMap,
        flow: Flow,
        finding: Finding,
        language_choice: LanguageChoice,
        error: Errors,
        page: Page,
        menu: Menu,
        field: Fields,
        problem: Problems,
        sign_in: SignIn,
        new_password: NewPassword,
        old_address: OldAddress,
        invitation: Invitation,
        join_link: JoinLink,
        account: Account,
        picture: Picture,
        notify: Notify,
        sessions: Sessions,
        tokens: Tokens,
        allowed: Allowed,
        administered: Administered,
        organization: Organization,
        closing: Closing,
        provider: Provider,
        audit: AuditTexts,
        audit_actions: ActionTexts,
        scopes: Scopes,
        own_flows: OwnFlows,
        unreachable: Unreachable,
        consent: Consent,
        code: Code,
        settings: Settings,
        general: General,
        leaving: Leaving,
        archiving: Archiving,
        members: Members,
        inviting: Inviting,
        joining: Joining,
        sources: Sources,
        own_level: OwnLevel,
        people: People,
        developer: Developer,
        application: Application,
        setup: Setup,
        registration: Registration,
    }

    /// How dates and numbers are written. A week begins with Monday.
    Locale {
        decimal: String,
        weekdays: [String; 7],
        weekdays_short: [String; 7],
        months: [String; 12],
        months_short: [String; 12],
        day: Phrase,
        day_with_year: Phrase,
        day_short: Phrase,
    }

    /// What the pages and the script both say.
    Both {
        change_status: String,
        set_status: String,
        edited: String,
        deleted: String,
        former: String,
        status_set: String,
        more: Phrase,
        file: String,
        open_larger: Phrase,
        thread: String,
        thread_of: Phrase,
        last_line: Phrase,
        last_act: Phrase,
        talks: Plural,
        active: String,
        idle: String,
        offline: String,
        online: Phrase,
        newest: String,
        cancel: String,
        turn_on: String,
        nothing_found: String,
        flows: String,
        new: String,
        your_flows: String,
        people: String,
        mentions: String,
        notifications: String,
        account: String,
        keys: String,
    }

    /// What is printed on keys.
    Keys {
        ctrl: String,
        shift: String,
        enter: String,
        delete: String,
        end: String,
    }

    /// What stands around every page of the client.
    Shell {
        skip: String,
        jump: String,
        search: String,
        behind_unread: String,
        behind_mentions: String,
        unread_inbox: String,
        close: Phrase,
        private: String,
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

    /// Where the reader writes.
    Composer {
        write: String,
        reply: String,
        write_to: Phrase,
        reply_here: String,
        suggestions: String,
        tray: String,
        attach: String,
        emoji: String,
        mention: String,
        send: String,
    }

    /// A message.
    Row {
        unfold: String,
        no_messages: Phrase,
    }

    /// The dialogs of the client.
    Dialogs {
        delete_text: String,
        delete_file_text: String,
        delete_message: String,
        close: String,
        jump: String,
        found: String,
        choose: String,
        open: String,
        picture_before: String,
        picture_after: String,
        download: String,
        find_emoji: String,
        choose_notices: String,
    }

    /// The list of keys.
    KeyMap {
        next_flow: String,
        next_unread: String,
        move_tab: String,
        next_pane: String,
        write: String,
        next_message: String,
        next_mention: String,
        open_thread: String,
        reply: String,
        copy: String,
        newest: String,
        send: String,
        new_line: String,
        edit_last: String,
        attach: String,
        leave: String,
        these: String,
        or: String,
        when_empty: String,
        letters: String,
    }

    /// The page of a flow, and of a private conversation.
    Flow {
        chat: String,
        people: Plural,
        search_in: Phrase,
        settings_of: Phrase,
        parts: String,
        parts_of: Phrase,
        beside: String,
        inbox: String,
        list_of: Phrase,
        chat_of: Phrase,
        chat_with: Phrase,
        earlier: String,
        later: String,
        hint: String,
        hint_seen: String,
        hello: Told,
        invite: String,
        hello_private: String,
        empty_inbox: Told,
        connect: String,
        threads: String,
        no_threads: Told,
        files: String,
        no_files: Told,
        older_files: String,
        older_threads: String,
        all: String,
        unread: String,
        none_unread: String,
        read_all: String,
        sources: String,
        to_date: String,
        go: String,
        to_inbox: String,
        close_thread: String,
        open: String,
        open_in: Phrase,
        messages_of_thread: String,
    }

    /// Searches, and lists of what was found.
    Finding {
        word_rule: String,
        words: String,
        by: String,
        since: String,
        until: String,
        unknown_user: Phrase,
        needs_words: String,
        no_day: String,
        tags: String,
        example: String,
        older: String,
        begin: Told,
        none_newest: String,
        none: String,
        too_many_tags: Phrase,
        everywhere: String,
        which_mentions: String,
        no_mentions: Told,
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
        closed: Told,
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

    /// What pages of several kinds say.
    Page {
        skip: String,
        problem: String,
        back: Phrase,
        check_mail: String,
        copy_now: String,
        day: Phrase,
        minute: Phrase,
    }

    /// The links beside the pages of an account.
    Menu {
        label: String,
        flows: String,
        account: String,
        notifications: String,
        applications: String,
        tokens: String,
        sessions: String,
        developer: String,
        sign_out: String,
    }

    /// What the fields of several forms are called.
    Fields {
        email: String,
        password: String,
        current_password: String,
        new_password: String,
        password_hint: String,
        full_name: String,
        nick: String,
        nick_hint: String,
        name: String,
        save: String,
    }

    /// What the pages themselves find wrong with a form. Of a field, it goes on behind the label.
    Problems {
        blank: String,
        email: String,
        credentials: String,
    }

    /// Signing in.
    SignIn {
        title: String,
        named: Phrase,
        once: String,
        forgot: String,
    }

    /// The way back in without the password.
    NewPassword {
        title: String,
        ask: String,
        send: String,
        sent: Phrase,
        again: String,
        everywhere: Phrase,
        set: String,
    }

    /// Undoing a change of address.
    OldAddress {
        title: String,
        restore: Phrase,
        changed: Phrase,
        warning: String,
        restored: String,
        ended: String,
        sent: String,
    }

    /// What an invitation leads to.
    Invitation {
        join: Phrase,
        join_as: Phrase,
        invites: Phrase,
        asks: Phrase,
        other_account: String,
        decline: String,
        sign_out: String,
        email_hint: String,
        declined: Told,
    }

    /// What the join link of a flow leads to.
    JoinLink {
        flow_of: Phrase,
        enter: String,
        has_account: String,
        send: String,
        sent: Phrase,
        not_sent: String,
    }

    /// One's own account.
    Account {
        title: String,
        names: String,
        website: String,
        change_address: String,
        address_hint: String,
        proof_hint: String,
        change_password: String,
        appearance: String,
        colours: String,
        system: String,
        light: String,
        dark: String,
        colours_hint: String,
        save_colours: String,
        organizations: String,
        done: AccountDone,
    }

    /// What has been done with it.
    AccountDone {
        profile: String,
        appearance: String,
        email: String,
        picture: String,
        no_picture: String,
        password: String,
    }

    /// One's own picture.
    Picture {
        title: String,
        own: String,
        change: String,
        remove: String,
        label: String,
        hint: String,
    }

    /// What one is notified of.
    Notify {
        lead: String,
        saved: String,
        level: String,
        all: String,
        mentions: String,
        nothing: String,
        level_hint: String,
        shows_text: String,
        shows_text_hint: String,
        quiet: String,
        from: String,
        until: String,
        until_hint: String,
        zone: String,
    }

    /// The browsers that are signed in.
    Sessions {
        lead: Phrase,
        this: String,
        times: Phrase,
        end: String,
        end_others: String,
        ended: String,
        others_ended: String,
        unknown: String,
        browser: Phrase,
    }

    /// One's API tokens.
    Tokens {
        lead: String,
        none: String,
        made: Phrase,
        another: String,
        create: String,
        name_hint: String,
        fresh: String,
        label: String,
        how: String,
        all: String,
        named: Phrase,
        created: Phrase,
        rename: String,
        end: String,
        renamed: String,
        ended: String,
    }

    /// The applications that a user has given access to their account.
    Allowed {
        lead: String,
        none: String,
        since: Phrase,
        revoke: String,
        revoked: String,
        by: Phrase,
        by_from: Phrase,
    }

    /// The applications of an organization, for its administrators.
    Administered {
        granted: String,
        none_granted: Phrase,
        elsewhere: String,
        registered: String,
        none_registered: Phrase,
    }

    /// Deleting an organization, and what is left of it until then.
    Closing {
        title: String,
        lead: String,
        title_of: Phrase,
        at_once: Phrase,
        after: Plural,
        until_then: String,
        export: String,
        confirm: Around,
        closed: Phrase,
        due: Phrase,
        begun: String,
        by_administrators: String,
        restorable: String,
        by_operator: String,
        restore: String,
        restored: String,
        list: String,
        show: String,
    }

    /// What applications may do.
    Scopes {
        flow: String,
        private: String,
        manage: String,
        profile: String,
        offline_access: String,
        integration: String,
    }

    /// The flows one is in.
    OwnFlows {
        title: String,
        none: String,
        search: String,
        mentions: String,
        left: String,
        archived: String,
    }

    /// What a browser shows without a network.
    Unreachable {
        title: String,
        text: String,
        again: String,
    }

    /// What an application asks for.
    Consent {
        wants: String,
        whose: Around,
        signed_in: String,
        to_site: String,
        to_program: Around,
        to_user: String,
        allow: String,
        deny: String,
        other_account: String,
        denied: Denied,
        too_long: String,
        removed: String,
    }

    /// The answer to one who denied it.
    Denied {
        title: String,
        text: Phrase,
    }

    /// What stands before and behind words that are set apart.
    Around {
        before: String,
        after: String,
    }

    /// The code that one copies into an application.
    Code {
        title: String,
        granted: Phrase,
        once: String,
    }

    /// What all settings say.
    Settings {
        label: Phrase,
        page_of: Phrase,
        general: String,
        members: String,
        invitations: String,
        joining: String,
        sources: String,
        notifications: String,
        you: String,
        administrator: String,
        go_back: String,
    }

    /// What a flow is called and is for.
    General {
        flow_of: Around,
        outside: String,
        is_archived: String,
        join: String,
        reopening: String,
        reopening_lead: String,
        reopen: String,
        addresses: String,
        api: Linked,
        mail: String,
        ways_out: String,
        leave: String,
        archive: String,
        saved: String,
        archived: String,
        reopened: String,
        name_hint: String,
        description: String,
        description_hint: String,
    }

    /// A text with a link in it.
    Linked {
        before: String,
        link: String,
        after: String,
    }

    /// Leaving a flow.
    Leaving {
        title: Phrase,
        text: String,
        any_time: String,
        by_link: String,
        by_invitation: String,
    }

    /// Archiving a flow.
    Archiving {
        title: Phrase,
        text: Phrase,
    }

    /// Who is in a flow.
    Members {
        adding: String,
        adding_lead: Phrase,
        complete: Phrase,
        person: String,
        choose: String,
        add: String,
        count: Plural,
        maker: String,
        blocked: String,
        blocked_lead: String,
        block: String,
        blocking: Phrase,
        blocking_text: String,
        unblock: String,
        was_added: String,
        was_blocked: String,
        was_unblocked: String,
    }

    /// Inviting people by mail.
    Inviting {
        blocked: String,
        in_flow: String,
        invited_before: String,
        some_invited_before: String,
        lead: Phrase,
        invite: String,
        addresses: String,
        addresses_hint: String,
        message: String,
        message_hint: String,
        pending: String,
        none_pending: String,
        no_more: String,
        more: String,
        withdraw: String,
        sent: String,
        added: String,
        both: String,
        withdrawn: String,
        others: String,
        refused: Phrase,
        more_refused: Plural,
    }

    /// Who may come into a flow.
    Joining {
        title: Phrase,
        lead: Phrase,
        by_invitation: String,
        by_link: String,
        by_organization: Phrase,
        choice_hint: String,
        link: String,
        anyone: Around,
        replace: String,
        changed: String,
        replaced: String,
    }

    /// What posts into the inbox of a flow.
    Sources {
        lead: Phrase,
        connected: String,
        another: String,
        script: String,
        script_text: String,
        make: String,
        make_text: Phrase,
        name_hint: String,
        made: Phrase,
        token: String,
        command: String,
        use_token: String,
        go: String,
        none: String,
        of: Phrase,
        orphaned: String,
        open: String,
        configure: String,
        configure_one: Phrase,
        removal: Phrase,
        removal_text: String,
        remove: String,
        removed: String,
    }

    /// What one is notified of in a flow.
    OwnLevel {
        lead: Linked,
        as_account: String,
        unknown: String,
    }

    /// The people of an organization.
    People {
        title: String,
        lead: Plural,
        remove: String,
        remove_one: Phrase,
        removed: String,
        removal: Phrase,
        removal_text: Phrase,
    }

    /// The settings of an organization.
    Organization {
        general: String,
        applications: String,
        provider: String,
        above: String,
        page_of: Phrase,
        inactive: String,
        people_and_addresses: String,
        count: Plural,
        at_most: Phrase,
        name_in_addresses: String,
        api: String,
        new_flow: String,
        new_flow_in: Phrase,
        new_flow_text: String,
        new_flow_hint: String,
        make_flow: String,
        no_flows: String,
        archived: String,
        joined: String,
        administered: String,
        saved: String,
        appoint: String,
        appoint_to: Phrase,
        appoint_text: Phrase,
        appointed: String,
        resign: String,
        resign_from: Phrase,
        resign_text: Phrase,
        resigned: String,
        dismiss: String,
        dismiss_from: Phrase,
        dismiss_text: Phrase,
        proof_hint: String,
        dismissed: String,
        of_person: Phrase,
    }

    /// The identity provider of an organization.
    Provider {
        lead: Phrase,
        state: String,
        connected: String,
        not_connected: String,
        address: String,
        since: String,
        token_made: String,
        token_maker: String,
        operator: String,
        warning: String,
        token_used: String,
        used: Phrase,
        not_used: String,
        disconnected_at: String,
        people: String,
        domains: String,
        no_domains: String,
        domains_hint: String,
        none: String,
        connect: String,
        connect_again: String,
        replace: String,
        replace_text: String,
        disconnect: String,
        disconnect_it: String,
        disconnect_text: String,
        disconnected: String,
        secret_title: String,
        back: String,
        token: String,
        how: String,
    }

    /// The audit log of an organization.
    AuditTexts {
        title: String,
        lead: Phrase,
        what: String,
        everything: String,
        user: String,
        everyone: String,
        from: String,
        until: String,
        show: String,
        show_all: String,
        no_action: String,
        no_user: String,
        no_day: String,
        wrong_order: String,
        records: String,
        none: String,
        none_older: String,
        no_match: String,
        older: String,
        newest: String,
        by: String,
        about: String,
        target: String,
        address: String,
        application: String,
        details: String,
        details_of: Phrase,
        operator: String,
        server: String,
        unknown: String,
        flow_token: String,
        provider: String,
        person: Phrase,
        of_source: Phrase,
        of_application: Phrase,
        of_target: Phrase,
        flow: String,
        source: String,
        session: String,
        api_token: String,
        of_kind_application: String,
        of_kind_organization: String,
        changed: Phrase,
        nothing: String,
        yes: String,
        no: String,
        other_action: Phrase,
        download: String,
        download_hint: Phrase,
        csv: String,
        lines: String,
        accounts: String,
        access: String,
        people: String,
        by_provider: String,
        groups: String,
        flows: String,
        organization: String,
    }

    /// What was done, in a sentence for each action of the audit log.
    ActionTexts {
        session_begin: String,
        session_refuse: String,
        session_end: String,
        sign_in_link_create: String,
        profile_change: String,
        password_change: String,
        email_change: String,
        token_create: String,
        token_rename: String,
        token_revoke: String,
        grant_give: String,
        grant_revoke: String,
        application_create: String,
        application_change: String,
        application_secret: String,
        application_delete: String,
        source_create: String,
        source_change: String,
        source_delete: String,
        member_add: String,
        member_remove: String,
        user_create: String,
        user_update: String,
        user_return: String,
        user_remove: String,
        user_erase: String,
        user_link: String,
        user_unlink: String,
        scim_enable: String,
        scim_rotate: String,
        scim_disable: String,
        domain_add: String,
        domain_remove: String,
        group_create: String,
        group_update: String,
        group_remove: String,
        flow_create: String,
        flow_change: String,
        flow_link: String,
        flow_member_add: String,
        flow_member_remove: String,
        flow_member_block: String,
        flow_member_unblock: String,
        invitation_create: String,
        invitation_end: String,
        organization_create: String,
        organization_change: String,
        organization_deletion_request: String,
        organization_deletion_cancel: String,
        organization_delete: String,
        user_deletion_request: String,
        user_deletion_cancel: String,
        retention_set: String,
        hold_place: String,
        hold_release: String,
        data_export: String,
        audit_export: String,
        data_import: String,
        backup_create: String,
        backup_take: String,
        backup_fail: String,
        data_restore: String,
        data_move: String,
        data_repair: String,
        secret_key_reset: String,
    }

    /// The applications of one's organizations.
    Developer {
        title: String,
        lead: Linked,
        none: String,
        registering: String,
        no_organization: String,
        organization: String,
        not_own: String,
        public: String,
        public_hint: String,
        register: String,
        registered: Phrase,
        removed: String,
    }

    /// One application.
    Application {
        all: String,
        organization: String,
        client_id: String,
        client_secret: String,
        kind: String,
        is_public: String,
        is_confidential: String,
        since: String,
        set_up: String,
        edit: String,
        change: String,
        new_secret: String,
        remove: String,
        who_may: Phrase,
        registered: String,
        changed: String,
        go: String,
        removal: Phrase,
        removal_text: String,
        another: Phrase,
        another_text: String,
        fresh: String,
        fresh_text: String,
    }

    /// Where an application is set up for a flow.
    Setup {
        title: Phrase,
        none: String,
        lead: String,
    }

    /// What can be said about an application. The braces in the hint of `setup_uri` are shown.
    Registration {
        redirect_uris: String,
        redirect_uris_hint: String,
        in_line: Phrase,
        configuration_uri: String,
        configuration_uri_hint: String,
        setup_uri: String,
        setup_uri_hint: String,
        icon_url: String,
        password_grant: String,
        password_grant_hint: String,
        out_of_band: String,
        out_of_band_hint: String,
    }
}
