//! The tables as diesel sees them, the same for both databases.

diesel::table! {
    settings (name) { name -> Text, value -> Binary, }
}
diesel::table! {
    organizations (id) {
        id -> BigInt,
        name -> Text,
        parameterized_name -> Text,
        user_limit -> BigInt,
        active -> Bool,
        parent_id -> Nullable<BigInt>,
        created_at -> BigInt,
        trial_ends -> Nullable<Text>,
        billing_date -> Nullable<Text>,
        user_count -> BigInt,
    }
}
diesel::table! {
    organization_names (parameterized_name) { parameterized_name -> Text, organization_id -> BigInt, }
}
diesel::table! {
    users (id) {
        id -> BigInt,
        email -> Text,
        email_key -> Text,
        name -> Text,
        nick -> Text,
        website -> Text,
        avatar -> Text,
        status -> Nullable<Text>,
        bot -> Bool,
        password_hash -> Nullable<Text>,
        created_at -> BigInt,
        email_proved -> Bool,
        active -> Bool,
        recovery_key -> Nullable<Text>,
    }
}
diesel::table! {
    email_claims (email_key, user_id) { email_key -> Text, user_id -> BigInt, expires_at -> BigInt, }
}
diesel::table! {
    organization_members (organization_id, user_id) {
        organization_id -> BigInt,
        user_id -> BigInt,
        nick_key -> Text,
        admin -> Bool,
        created_at -> BigInt,
    }
}
diesel::table! {
    identity_providers (organization_id) {
        organization_id -> BigInt,
        uid -> Text,
        token_hash -> Binary,
        created_at -> BigInt,
        rotated_at -> BigInt,
        used_at -> Nullable<BigInt>,
        made_by -> Nullable<BigInt>,
    }
}
diesel::table! {
    identities (user_id) {
        user_id -> BigInt,
        organization_id -> BigInt,
        subject -> Text,
        subject_key -> Text,
        external_id -> Nullable<Text>,
        version -> BigInt,
        created_at -> BigInt,
        updated_at -> BigInt,
        removed_at -> Nullable<BigInt>,
        stated_email -> Nullable<Text>,
        suspended_at -> Nullable<BigInt>,
    }
}
diesel::table! {
    organization_domains (domain) { domain -> Text, organization_id -> BigInt, created_at -> BigInt, }
}
diesel::table! {
    user_groups (id) {
        id -> BigInt,
        organization_id -> BigInt,
        name -> Text,
        name_key -> Text,
        created_at -> BigInt,
        display_name -> Nullable<Text>,
        external_id -> Nullable<Text>,
    }
}
diesel::table! {
    user_group_members (group_id, user_id) { group_id -> BigInt, user_id -> BigInt, }
}
diesel::table! {
    suspended_memberships (user_id, organization_id) {
        user_id -> BigInt,
        organization_id -> BigInt,
        admin -> Bool,
        access_ended_at -> BigInt,
    }
}
diesel::table! {
    audit (id) {
        id -> BigInt,
        organization_id -> BigInt,
        at -> BigInt,
        actor -> Text,
        action -> Text,
        user_id -> Nullable<BigInt>,
        detail -> Text,
        application_id -> Nullable<BigInt>,
        address -> Nullable<Text>,
        target_kind -> Nullable<Text>,
        target_id -> Nullable<Text>,
        target_name -> Nullable<Text>,
    }
}
diesel::table! {
    audit_exports (name) { name -> Text, last_id -> BigInt, holder -> Text, updated_at -> BigInt, }
}
diesel::table! {
    api_tokens (hash) {
        hash -> Binary,
        user_id -> BigInt,
        name -> Text,
        created_at -> BigInt,
    }
}
diesel::table! {
    avatars (user_id) { user_id -> BigInt, content_type -> Text, bytes -> Binary, }
}
diesel::table! {
    sessions (hash) {
        hash -> Binary,
        user_id -> BigInt,
        created_at -> BigInt,
        seen_at -> BigInt,
        agent -> Text,
    }
}
diesel::table! {
    applications (id) {
        id -> BigInt,
        client_id -> Text,
        organization_id -> BigInt,
        name -> Text,
        public -> Bool,
        secret -> Nullable<Binary>,
        redirect_uris -> Text,
        configuration_uri -> Nullable<Text>,
        setup_uri -> Nullable<Text>,
        icon_url -> Nullable<Text>,
        password_grant -> Bool,
        out_of_band -> Bool,
        creator_id -> Nullable<BigInt>,
        created_at -> BigInt,
    }
}
diesel::table! {
    grants (id) {
        id -> BigInt,
        application_id -> BigInt,
        user_id -> BigInt,
        scopes -> SmallInt,
        generation -> BigInt,
        created_at -> BigInt,
        used_at -> BigInt,
    }
}
diesel::table! {
    authorization_codes (hash) {
        hash -> Binary,
        application_id -> BigInt,
        user_id -> BigInt,
        scopes -> SmallInt,
        redirect_uri -> Text,
        redirect_named -> Bool,
        challenge -> Nullable<Text>,
        expires_at -> BigInt,
        grant_id -> Nullable<BigInt>,
    }
}
diesel::table! {
    access_tokens (hash) {
        hash -> Binary,
        grant_id -> BigInt,
        scopes -> SmallInt,
        created_at -> BigInt,
        expires_at -> BigInt,
    }
}
diesel::table! {
    refresh_tokens (hash) { hash -> Binary, grant_id -> BigInt, generation -> BigInt, expires_at -> BigInt, }
}
diesel::table! {
    invitations (id) {
        id -> BigInt,
        room_id -> BigInt,
        email -> Text,
        email_key -> Text,
        inviter_id -> Nullable<BigInt>,
        message -> Nullable<Text>,
        state -> SmallInt,
        created_at -> BigInt,
        sent_at -> BigInt,
    }
}
diesel::table! {
    imported_records (organization_id, source, kind, room_id, foreign_id) {
        organization_id -> BigInt,
        source -> Text,
        kind -> SmallInt,
        room_id -> BigInt,
        foreign_id -> Text,
        local_id -> BigInt,
    }
}
diesel::table! {
    removed_members (organization_id, user_id) {
        organization_id -> BigInt,
        user_id -> BigInt,
        removed_at -> BigInt,
    }
}
diesel::table! {
    links (hash) {
        hash -> Binary,
        purpose -> SmallInt,
        target_id -> BigInt,
        email -> Nullable<Text>,
        expires_at -> BigInt,
    }
}
diesel::table! {
    mail_records (id) {
        id -> BigInt,
        kind -> SmallInt,
        recipient_key -> Text,
        sender_id -> Nullable<BigInt>,
        organization_id -> Nullable<BigInt>,
        at -> BigInt,
    }
}
diesel::table! {
    mails (id) {
        id -> BigInt,
        purpose -> SmallInt,
        target_id -> BigInt,
        recipient -> Text,
        detail -> Nullable<Text>,
        attempts -> BigInt,
        due_at -> BigInt,
        created_at -> BigInt,
    }
}
diesel::table! {
    rooms (id) {
        id -> BigInt,
        kind -> SmallInt,
        last_message_id -> BigInt,
        last_message_at -> Nullable<BigInt>,
        access_version -> BigInt,
    }
}
diesel::table! {
    flows (room_id) {
        room_id -> BigInt,
        public_id -> Text,
        organization_id -> BigInt,
        name -> Text,
        parameterized_name -> Text,
        description -> Nullable<Text>,
        access_mode -> SmallInt,
        disabled -> Bool,
        creator_id -> Nullable<BigInt>,
        join_secret -> Text,
        created_at -> BigInt,
    }
}
diesel::table! {
    private_rooms (room_id) { room_id -> BigInt, low_user_id -> BigInt, high_user_id -> BigInt, }
}
diesel::table! {
    flow_tokens (hash) {
        hash -> Binary,
        room_id -> BigInt,
        created_at -> BigInt,
        source_id -> Nullable<BigInt>,
    }
}
diesel::table! {
    sources (id) {
        id -> BigInt,
        room_id -> BigInt,
        application_id -> Nullable<BigInt>,
        name -> Text,
        external_url -> Nullable<Text>,
        configuration_url -> Nullable<Text>,
        error_message -> Nullable<Text>,
        creator_id -> Nullable<BigInt>,
        created_at -> BigInt,
        updated_at -> BigInt,
        removed_at -> Nullable<BigInt>,
    }
}
diesel::table! {
    objects (object_key) {
        object_key -> Text,
        digest -> Nullable<Binary>,
        size -> BigInt,
        state -> SmallInt,
        node -> Text,
        touched_at -> BigInt,
    }
}
diesel::table! {
    files (id) {
        id -> Text,
        room_id -> BigInt,
        message_id -> BigInt,
        position -> SmallInt,
        name -> Text,
        content_type -> Text,
        size -> BigInt,
        object_key -> Text,
        width -> Nullable<BigInt>,
        height -> Nullable<BigInt>,
        thumbnail_key -> Nullable<Text>,
        thumbnail_width -> Nullable<BigInt>,
        thumbnail_height -> Nullable<BigInt>,
    }
}
diesel::table! {
    room_members (room_id, user_id) {
        room_id -> BigInt,
        user_id -> BigInt,
        open -> Bool,
        blocked -> Bool,
        last_activity -> BigInt,
        last_ping -> BigInt,
        read_up_to -> BigInt,
        tab_position -> Nullable<Integer>,
        inbox_read_up_to -> BigInt,
    }
}
diesel::table! {
    thread_markers (room_id, user_id, root_id) {
        room_id -> BigInt,
        user_id -> BigInt,
        root_id -> BigInt,
        read_up_to -> BigInt,
    }
}
diesel::table! {
    former_members (room_id, user_id) { room_id -> BigInt, user_id -> BigInt, name -> Text, nick -> Text, }
}
diesel::table! {
    messages (room_id, id) {
        room_id -> BigInt,
        id -> BigInt,
        event -> SmallInt,
        user_id -> Nullable<BigInt>,
        external_user_name -> Nullable<Text>,
        content -> Text,
        tags -> Text,
        explicit_tags -> Text,
        uuid -> Nullable<Text>,
        fingerprint -> BigInt,
        sent -> BigInt,
        edited -> Nullable<BigInt>,
        thread_root -> Nullable<BigInt>,
        parent_id -> Nullable<BigInt>,
        to_user_id -> Nullable<BigInt>,
        thread_left -> Nullable<Text>,
    }
}
diesel::table! {
    message_tags (room_id, tag, message_id) { room_id -> BigInt, tag -> Text, message_id -> BigInt, }
}
diesel::table! {
    mentions (room_id, user_id, message_id) {
        room_id -> BigInt,
        user_id -> BigInt,
        message_id -> BigInt,
        sender_id -> BigInt,
    }
}
diesel::table! {
    cohorts (room_id, id) { room_id -> BigInt, id -> BigInt, digest -> Binary, users -> Text, }
}
diesel::table! {
    mentions_seen (room_id, user_id, message_id) {
        room_id -> BigInt,
        user_id -> BigInt,
        message_id -> BigInt,
    }
}
diesel::table! {
    reactions (room_id, message_id, emoji, user_id) {
        room_id -> BigInt,
        message_id -> BigInt,
        emoji -> Text,
        user_id -> BigInt,
        position -> BigInt,
    }
}
diesel::table! {
    notification_settings (user_id) {
        user_id -> BigInt,
        level -> SmallInt,
        shows_text -> Bool,
        quiet_from -> Nullable<SmallInt>,
        quiet_until -> Nullable<SmallInt>,
        zone -> Nullable<Text>,
    }
}
diesel::table! {
    notification_levels (room_id, user_id) { room_id -> BigInt, user_id -> BigInt, level -> SmallInt, }
}
diesel::table! {
    push_subscriptions (session_hash) {
        session_hash -> Binary,
        user_id -> BigInt,
        endpoint -> Text,
        p256dh -> Binary,
        auth -> Binary,
        created_at -> BigInt,
    }
}
diesel::table! {
    pushes (id) {
        id -> BigInt,
        session_hash -> Binary,
        room_id -> BigInt,
        message_id -> BigInt,
        attempts -> BigInt,
        due_at -> BigInt,
        created_at -> BigInt,
    }
}
diesel::table! {
    threads (room_id, root_id) {
        room_id -> BigInt,
        root_id -> BigInt,
        activities -> BigInt,
        internal_comments -> BigInt,
        external_comments -> BigInt,
        created_at -> BigInt,
        updated_at -> BigInt,
        origin -> SmallInt,
        source_id -> Nullable<BigInt>,
        application_id -> Nullable<BigInt>,
        external_id -> Nullable<Text>,
        item_id -> Nullable<BigInt>,
        item_from -> Nullable<BigInt>,
    }
}
diesel::table! {
    thread_items (room_id, message_id) { room_id -> BigInt, message_id -> BigInt, item -> Text, }
}
diesel::table! {
    event_log (seq) {
        seq -> BigInt,
        check_value -> BigInt,
        kind -> SmallInt,
        room_id -> Nullable<BigInt>,
        message_id -> Nullable<BigInt>,
        user_id -> Nullable<BigInt>,
        created_at -> BigInt,
        peer_id -> Nullable<BigInt>,
    }
}
diesel::table! {
    retention_rules (scope, target_id) { scope -> SmallInt, target_id -> BigInt, days -> BigInt, }
}
diesel::table! {
    legal_holds (scope, target_id) {
        scope -> SmallInt,
        target_id -> BigInt,
        reason -> Text,
        placed_at -> BigInt,
    }
}
diesel::table! {
    pending_deletions (scope, target_id) {
        scope -> SmallInt,
        target_id -> BigInt,
        requested_by -> Text,
        requested_at -> BigInt,
        due_at -> BigInt,
        begun_at -> Nullable<BigInt>,
        was_active -> Bool,
    }
}
diesel::table! {
    closed_members (organization_id, user_id) {
        organization_id -> BigInt,
        user_id -> BigInt,
        nick_key -> Text,
        admin -> Bool,
        created_at -> BigInt,
    }
}
diesel::table! {
    closed_room_members (room_id, user_id) {
        room_id -> BigInt,
        user_id -> BigInt,
        open -> Bool,
        blocked -> Bool,
        last_activity -> BigInt,
        last_ping -> BigInt,
        read_up_to -> BigInt,
        tab_position -> Nullable<Integer>,
        inbox_read_up_to -> BigInt,
    }
}
diesel::table! {
    log_clock (id) { id -> SmallInt, sequence -> BigInt, }
}
diesel::table! {
    writers (id) { id -> Text, batch -> BigInt, noted_at -> BigInt, }
}
diesel::table! {
    nodes (id) {
        id -> Text,
        heartbeat -> BigInt,
        seq_read -> BigInt,
        presence_at -> BigInt,
        presence_from -> BigInt,
    }
}
diesel::table! {
    node_presence (node, user_id) {
        node -> Text,
        user_id -> BigInt,
        changed_at -> BigInt,
        present -> Bool,
        places -> Binary,
    }
}

diesel::allow_tables_to_appear_in_same_query!(
    organizations,
    organization_names,
    applications,
    grants,
    authorization_codes,
    access_tokens,
    refresh_tokens,
    users,
    identities,
    avatars,
    email_claims,
    sessions,
    invitations,
    links,
    mails,
    private_rooms,
    organization_members,
    closed_members,
    pending_deletions,
    user_groups,
    user_group_members,
    api_tokens,
    rooms,
    flows,
    flow_tokens,
    sources,
    objects,
    files,
    former_members,
    room_members,
    messages,
    message_tags,
    mentions,
    cohorts,
    mentions_seen,
    reactions,
    notification_levels,
    push_subscriptions,
    pushes,
    threads,
    thread_items,
    thread_markers,
);
