//! How the databases find provided users, pending invitations, records of mail, unread messages, what began threads
//! and records of the audit log: by an index, however many there are.

use std::sync::{Arc, Mutex};

use diesel::connection::{InstrumentationEvent, SimpleConnection as _};
use diesel::prelude::*;
use diesel::sql_types::Text;
use eddyline_model::audit::{AuditFilter, AuditRange};
use eddyline_model::mail::MailKind;
use eddyline_model::threads::{ThreadQuery, ThreadSelection};
use eddyline_model::{MessageId, OrganizationId, RoomId, Timestamp, UserId};
use eddyline_storage::{ProvidedQuery, Reader, Result};

use crate::home;
use crate::schema::execute;

#[derive(QueryableByName)]
struct Step {
    #[diesel(sql_type = Text)]
    detail: String,
}

#[derive(QueryableByName)]
struct Line {
    #[diesel(sql_type = Text, column_name = "QUERY PLAN")]
    text: String,
}

/// Asks for users by each term and by all of them, for one user, and for the organizations below
/// another.
fn ask_everything(reader: &mut Reader<'_>) -> Result<()> {
    let of = OrganizationId(1);
    let key = || Some("user77@example.org".to_owned());
    let none = ProvidedQuery {
        limit: Some(1),
        ..ProvidedQuery::default()
    };
    for query in [
        ProvidedQuery {
            subject_key: key(),
            ..none.clone()
        },
        ProvidedQuery {
            external_id: key(),
            ..none.clone()
        },
        ProvidedQuery {
            email_key: key(),
            ..none.clone()
        },
        ProvidedQuery {
            external_id: key(),
            email_key: key(),
            ..none.clone()
        },
        ProvidedQuery {
            subject_key: key(),
            external_id: key(),
            email_key: key(),
            ..none
        },
    ] {
        reader.identities().list_users(of, &query)?;
    }
    reader.identities().find_user(of, UserId(77))?;
    reader.identities().find(UserId(77))?;
    reader
        .identities()
        .find_by_subject(of, "user77@example.org")?;
    reader.identities().find_provider("uid")?;
    reader.organizations().list_below(of)?;
    Ok(())
}

/// The statements that a connection is given meanwhile, without their values.
fn heard<C: Connection>(c: &mut C, ask: impl FnOnce(&mut C) -> Result<()>) -> Vec<String> {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let told = heard.clone();
    c.set_instrumentation(move |event: InstrumentationEvent<'_>| {
        if let InstrumentationEvent::StartQuery { query, .. } = event {
            let text = query.to_string();
            let sql = text
                .split(" -- binds")
                .next()
                .expect("a split has a beginning")
                .to_owned();
            told.lock().expect("nobody panics").push(sql);
        }
    });
    ask(c).expect("the questions are answered");
    c.set_instrumentation(|_: InstrumentationEvent<'_>| {});
    std::mem::take(&mut *heard.lock().expect("nobody panics"))
}

/// Those of [`ask_everything`].
fn statements<C: Connection>(c: &mut C, ask: impl FnOnce(&mut C) -> Result<()>) -> Vec<String> {
    let heard = heard(c, ask);
    // Counting is asked for where a page is full, which each of them is.
    assert!(
        heard.iter().filter(|sql| sql.contains("COUNT(*)")).count() >= 5,
        "{heard:#?}"
    );
    heard
}

/// The steps by which SQLite answers a statement.
fn sqlite_plan(c: &mut SqliteConnection, sql: &str) -> Vec<String> {
    let steps: Vec<Step> = diesel::sql_query(format!("explain query plan {sql}"))
        .load(c)
        .expect("a plan");
    steps.into_iter().map(|step| step.detail).collect()
}

/// The lines of PostgreSQL's plan for a statement with any values.
fn postgres_plan(c: &mut PgConnection, sql: &str) -> Vec<String> {
    let values = match sql.matches('$').count() {
        0 => String::new(),
        count => format!("({})", vec!["null"; count].join(", ")),
    };
    execute_on(c, &format!("prepare question as {sql}"));
    let explain = format!("explain execute question {values}");
    let plan: Vec<Line> = diesel::sql_query(explain).load(c).expect("a plan");
    execute_on(c, "deallocate question");
    plan.into_iter().map(|line| line.text).collect()
}

/// A connection that waits while the store, which has just been dropped, still closes its own.
fn sqlite(path: &str) -> SqliteConnection {
    let mut c = SqliteConnection::establish(path).expect("SQLite opens");
    c.batch_execute("pragma busy_timeout = 60000")
        .expect("a timeout");
    c
}

/// Ten thousand provided users.
fn people(url: &str, numbers: &str) {
    execute(
        url,
        &format!(
            "insert into organizations (name, parameterized_name, user_limit, created_at) values ('A', 'a', 9, 1); \
             insert into identity_providers values (1, 'uid', 'hash', 1, 1, null, null); \
             insert into users (email, email_key, name, nick, avatar, created_at) \
                select 'user' || n, 'user' || n || '@example.org', 'User', 'user', '', 1 from {numbers}; \
             insert into identities (user_id, organization_id, subject, subject_key, external_id, version, \
                created_at, updated_at) \
                select id, 1, email_key, email_key, email_key, 1, 1, 1 from users; \
             insert into organizations (name, parameterized_name, user_limit, created_at, parent_id) \
                select 'A', 'a' || n, 9, 1, case when n % 100 = 0 then 1 else null end from {numbers};"
        ),
    );
}

#[test]
fn sqlite_reads_no_more_than_it_must() {
    let home = home::sqlite_file().expect("a file");
    home.open();
    people(
        &home.url,
        "(with recursive t (n) as (select 1 union all select n + 1 from t where n < 10000) select n from t)",
    );
    let path = home.url.strip_prefix("sqlite:").expect("a path");
    let mut c = sqlite(path);
    let asked = statements(&mut c, |c| ask_everything(&mut Reader::from(c)));
    for sql in asked {
        for detail in sqlite_plan(&mut c, &sql) {
            let reads_all = detail.contains("SCAN") || detail.contains("(organization_id=?)");
            assert!(!reads_all, "{sql}: {detail}");
        }
    }
}

#[test]
fn postgres_reads_no_more_than_it_must() {
    let Some(home) = home::postgres() else { return };
    home.open();
    people(&home.url, "generate_series(1, 10000) n");
    let mut c = PgConnection::establish(&home.url).expect("PostgreSQL answers");
    let asked = statements(&mut c, |c| ask_everything(&mut Reader::from(c)));
    // Plans for any values, since those for known ones are made anew each time; of a table that was
    // filled a moment ago, and of one that is known.
    execute_on(&mut c, "set plan_cache_mode = force_generic_plan");
    for known in [false, true] {
        if known {
            execute_on(&mut c, "analyze");
        }
        for sql in &asked {
            for text in postgres_plan(&mut c, sql) {
                let reads_all =
                    text.contains("Seq Scan") || text.contains("Cond: (organization_id = $1)");
                // There is one provider only, which is read faster than an index.
                assert!(
                    !reads_all || text.contains("identity_providers"),
                    "{known}, {sql}: {text}"
                );
            }
        }
    }
}

fn execute_on(c: &mut PgConnection, sql: &str) {
    diesel::connection::SimpleConnection::batch_execute(c, sql).expect("the statement is good");
}

/// What is asked for each invitation, and the index that answers it.
type Question = (fn(&mut Reader<'_>) -> Result<()>, &'static str);

const OF_INVITATIONS: [Question; 6] = [
    (
        |reader| {
            let keys: Vec<String> = (0..200).map(|n| format!("user{n}@example.org")).collect();
            reader
                .invitations()
                .list_pending_to(RoomId(1), &keys)
                .map(drop)
        },
        "invitations_pending",
    ),
    (
        |reader| reader.invitations().list_requested(&[RoomId(1)]).map(drop),
        "invitations_",
    ),
    (
        |reader| {
            reader
                .mail_records()
                .list_to(MailKind::Invitation, &["a", "b"], Timestamp(5))
                .map(drop)
        },
        "mail_records_recipient",
    ),
    (
        |reader| {
            reader
                .mail_records()
                .count_by_sender(UserId(1), Timestamp(5))
                .map(drop)
        },
        "mail_records_sender",
    ),
    (
        |reader| {
            reader
                .mail_records()
                .count_of_organization(MailKind::Invitation, OrganizationId(1), Timestamp(5))
                .map(drop)
        },
        "mail_records_organization",
    ),
    (
        |reader| {
            reader
                .mail_records()
                .find_nth_last_of_organization(MailKind::Invitation, OrganizationId(1), 9)
                .map(drop)
        },
        "mail_records_organization",
    ),
];

/// Twenty thousand invitations into each of two flows, most of them accepted, and as much mail.
fn invitations(url: &str, numbers: &str) {
    execute(
        url,
        &format!(
            "insert into rooms (kind) values (0); insert into rooms (kind) values (0); \
             insert into invitations (room_id, email, email_key, state, created_at, sent_at) \
                select 1 + n % 2, '', 'user' || n || '@example.org', case when n % 50 < 2 then 0 else 1 end, 1, 1 \
                from {numbers}; \
             insert into mail_records (kind, recipient_key, sender_id, organization_id, at) \
                select 0, 'user' || n, n % 500, n % 500, n from {numbers};"
        ),
    );
}

#[test]
fn sqlite_finds_invitations_and_mail_by_an_index() {
    let home = home::sqlite_file().expect("a file");
    home.open();
    invitations(
        &home.url,
        "(with recursive t (n) as (select 1 union all select n + 1 from t where n < 20000) select n from t)",
    );
    let path = home.url.strip_prefix("sqlite:").expect("a path");
    let mut c = sqlite(path);
    // The store that made the tables may still be closing.
    c.batch_execute("pragma busy_timeout = 5000")
        .expect("a pragma");
    for (ask, index) in OF_INVITATIONS {
        for sql in heard(&mut c, |c| ask(&mut Reader::from(c))) {
            let plan = sqlite_plan(&mut c, &sql);
            let by_index = plan
                .iter()
                .any(|step| step.starts_with("SEARCH") && step.contains(index));
            assert!(by_index, "{sql}: {plan:#?}");
        }
    }
}

#[test]
fn postgres_finds_invitations_and_mail_by_an_index() {
    let Some(home) = home::postgres() else { return };
    home.open();
    invitations(&home.url, "generate_series(1, 20000) n");
    let mut c = PgConnection::establish(&home.url).expect("PostgreSQL answers");
    execute_on(&mut c, "set plan_cache_mode = force_generic_plan; analyze");
    for (ask, index) in OF_INVITATIONS {
        for sql in heard(&mut c, |c| ask(&mut Reader::from(c))) {
            let plan = postgres_plan(&mut c, &sql);
            assert!(
                plan.iter().any(|line| line.contains(index)),
                "{sql}: {plan:#?}"
            );
        }
    }
}

/// A flow in which one message of a hundred begins a thread.
fn roots(url: &str, numbers: &str) {
    execute(
        url,
        &format!(
            "insert into messages (room_id, id, event, content, tags, explicit_tags, fingerprint, sent, thread_root) \
                select 1, n, case when n % 100 = 0 then 0 else 7 end, '', '', '', 0, n, \
                    case when n % 100 = 0 then n else null end from {numbers};"
        ),
    );
}

fn ask_for_roots(reader: &mut Reader<'_>) -> Result<()> {
    let query = ThreadQuery {
        threads: ThreadSelection::Chat,
        since: None,
        until: Some(Timestamp(5_000)),
        before: None,
        empty: true,
        search: None,
        status: None,
        limit: 30,
        last_message: false,
        reader: None,
    };
    reader.threads().list(RoomId(1), &query, 1 << 20).map(drop)
}

fn ask_for_last(reader: &mut Reader<'_>) -> Result<()> {
    let roots = [MessageId(100), MessageId(200)];
    reader.threads().list_last(RoomId(1), &roots).map(drop)
}

/// Asks for the messages of a thread as retention and imports do.
fn ask_for_messages_of_a_thread(reader: &mut Reader<'_>) -> Result<()> {
    // A first message that is gone, so that its answers are looked for.
    let (room, root) = (RoomId(1), MessageId(20_000));
    reader.threads().has_messages(room, root)?;
    reader.imports().list_of_thread(room, root).map(drop)
}

/// The statements among these that look for answers in a thread.
fn of_answers(heard: Vec<String>) -> Vec<String> {
    let found: Vec<String> = heard
        .into_iter()
        .filter(|sql| sql.contains("answers"))
        .collect();
    assert_eq!(found.len(), 2, "{found:#?}");
    found
}

fn ask_for_unread(reader: &mut Reader<'_>) -> Result<()> {
    let mut members = reader.members();
    let unread = members.list_unread_chat(
        RoomId(1),
        UserId(1),
        (MessageId(5_000), MessageId(10_000)),
        100,
    );
    unread.map(drop)
}

/// The statement that reads the messages which began threads.
fn of_roots(heard: Vec<String>) -> String {
    heard
        .into_iter()
        .find(|sql| sql.contains("event = 0 or"))
        .expect("it is asked for")
}

#[test]
fn sqlite_finds_what_began_threads_by_an_index() {
    let home = home::sqlite_file().expect("a file");
    home.open();
    roots(
        &home.url,
        "(with recursive t (n) as (select 1 union all select n + 1 from t where n < 10000) select n from t)",
    );
    let mut c = sqlite(home.url.strip_prefix("sqlite:").expect("a path"));
    let sql = of_roots(heard(&mut c, |c| ask_for_roots(&mut Reader::from(c))));
    let plan = sqlite_plan(&mut c, &sql);
    assert!(
        plan.iter().any(|step| step.contains("messages_roots")),
        "{sql}: {plan:#?}"
    );
    let sql = heard(&mut c, |c| ask_for_last(&mut Reader::from(c))).remove(0);
    let plan = sqlite_plan(&mut c, &sql);
    assert!(
        plan.iter().any(|step| step.contains("messages_answers")),
        "{sql}: {plan:#?}"
    );
    for sql in of_answers(heard(&mut c, |c| {
        ask_for_messages_of_a_thread(&mut Reader::from(c))
    })) {
        let plan = sqlite_plan(&mut c, &sql);
        let uses = |index: &str| plan.iter().any(|step| step.contains(index));
        assert!(
            uses("messages_answers (room_id=? AND thread_root=?)")
                && uses("PRIMARY KEY (room_id=? AND id=?)"),
            "{sql}: {plan:#?}"
        );
    }
    // In the order of the numbers, so that the statement ends at its limit.
    let sql = heard(&mut c, |c| ask_for_unread(&mut Reader::from(c))).remove(0);
    let plan = sqlite_plan(&mut c, &sql);
    let [step] = &plan[..] else {
        panic!("{sql}: {plan:#?}")
    };
    assert!(step.contains("room_id=? AND id>?"), "{sql}: {step}");
}

#[test]
fn postgres_finds_what_began_threads_by_an_index() {
    let Some(home) = home::postgres() else { return };
    home.open();
    roots(&home.url, "generate_series(1, 10000) n");
    let mut c = PgConnection::establish(&home.url).expect("PostgreSQL answers");
    execute_on(&mut c, "set plan_cache_mode = force_generic_plan; analyze");
    let sql = of_roots(heard(&mut c, |c| ask_for_roots(&mut Reader::from(c))));
    let plan = postgres_plan(&mut c, &sql);
    assert!(
        plan.iter().any(|line| line.contains("messages_roots")),
        "{sql}: {plan:#?}"
    );
    let sql = heard(&mut c, |c| ask_for_last(&mut Reader::from(c))).remove(0);
    let plan = postgres_plan(&mut c, &sql);
    assert!(
        plan.iter().any(|line| line.contains("messages_answers")),
        "{sql}: {plan:#?}"
    );
    for sql in of_answers(heard(&mut c, |c| {
        ask_for_messages_of_a_thread(&mut Reader::from(c))
    })) {
        let plan = postgres_plan(&mut c, &sql);
        let uses = |index: &str| plan.iter().any(|line| line.contains(index));
        assert!(uses("messages_answers"), "{sql}: {plan:#?}");
    }
    // In the order of the numbers, so that the statement ends at its limit.
    let sql = heard(&mut c, |c| ask_for_unread(&mut Reader::from(c))).remove(0);
    let plan = postgres_plan(&mut c, &sql);
    assert!(
        plan.iter().any(|line| line.contains("messages_pkey")),
        "{sql}: {plan:#?}"
    );
    assert!(
        !plan.iter().any(|line| line.contains("Sort")),
        "{sql}: {plan:#?}"
    );
}

/// Mentions of one cohort in so many messages of a room.
fn mentions_of_a_cohort(url: &str, numbers: &str) {
    execute(
        url,
        &format!(
            "insert into mentions (room_id, user_id, message_id, sender_id) select 1, -5, n, 2 from {numbers}; \
             insert into mentions (room_id, user_id, message_id, sender_id) select 2, n, n, 2 from {numbers}"
        ),
    );
}

/// Asks for the unread mentions of a user behind a marker.
fn count_mentions(reader: &mut Reader<'_>) -> Result<()> {
    let place = MessageId(9_990);
    let count = reader
        .members()
        .count_unread_mentions(RoomId(1), UserId(1), (place, place), 100);
    count.map(drop)
}

#[test]
fn sqlite_counts_unread_mentions_by_their_keys() {
    let home = home::sqlite_file().expect("a file");
    home.open();
    mentions_of_a_cohort(
        &home.url,
        "(with recursive t (n) as (select 1 union all select n + 1 from t where n < 10000) select n from t)",
    );
    let mut c = sqlite(home.url.strip_prefix("sqlite:").expect("a path"));
    let statements = heard(&mut c, |c| count_mentions(&mut Reader::from(c)));
    let [sql] = &statements[..] else {
        panic!("{statements:#?}")
    };
    let plan = sqlite_plan(&mut c, sql);
    for step in [
        "SEARCH c USING PRIMARY KEY (room_id=?)",
        "SEARCH p USING PRIMARY KEY (room_id=? AND user_id=? AND message_id>?)",
        "SEARCH o USING PRIMARY KEY (room_id=? AND id=?)",
        "SEARCH n USING PRIMARY KEY (room_id=? AND user_id=? AND message_id>?)",
        "SEARCH m USING PRIMARY KEY (room_id=? AND user_id=? AND message_id>?)",
        "SEARCH g USING PRIMARY KEY (room_id=? AND id=?)",
    ] {
        assert!(
            plan.iter().any(|line| line.contains(step)),
            "{step}: {sql}: {plan:#?}"
        );
    }
    // Those of a key in their order end at the limit.
    assert!(
        !plan.iter().any(|line| line.contains("ORDER BY")),
        "{sql}: {plan:#?}"
    );
}

#[test]
fn postgres_counts_unread_mentions_by_their_keys() {
    let Some(home) = home::postgres() else { return };
    home.open();
    mentions_of_a_cohort(&home.url, "generate_series(1, 10000) n");
    let mut c = PgConnection::establish(&home.url).expect("PostgreSQL answers");
    execute_on(&mut c, "analyze");
    let statements = heard(&mut c, |c| count_mentions(&mut Reader::from(c)));
    let [sql] = &statements[..] else {
        panic!("{statements:#?}")
    };
    let plan = postgres_plan(&mut c, sql);
    for scan in ["on mentions p", "on mentions n"] {
        assert!(
            plan.iter()
                .any(|line| line.contains(&format!("mentions_pkey {scan}"))),
            "{scan}: {sql}: {plan:#?}"
        );
    }
    assert!(
        !plan
            .iter()
            .any(|line| line.contains("Seq Scan on mentions ") || line.contains("Hash")),
        "{sql}: {plan:#?}"
    );
}

/// A filter of the audit log, and the index of each statement that it becomes.
type AuditQuestion = (fn() -> AuditFilter, &'static [&'static str]);

/// What is asked for a part of the audit log of an organization, and the index that answers each
/// statement in the order of the numbers.
const OF_AUDIT: [AuditQuestion; 4] = [
    (AuditFilter::default, &["audit_organization"]),
    (
        || AuditFilter {
            actions: vec!["session.begin".to_owned()],
            ..AuditFilter::default()
        },
        &["audit_organization_action"],
    ),
    (
        || AuditFilter {
            actions: vec!["member.add".to_owned(), "member.remove".to_owned()],
            ..AuditFilter::default()
        },
        &["audit_organization_action", "audit_organization_action"],
    ),
    (
        || AuditFilter {
            concerning: Some(UserId(7)),
            ..AuditFilter::default()
        },
        &["audit_organization_user", "audit_organization_actor"],
    ),
];

/// Twenty thousand records of a hundred organizations.
fn audited(url: &str, numbers: &str) {
    execute(
        url,
        &format!(
            "insert into audit (organization_id, at, actor, action, user_id, detail) \
                select n % 100, n, 'user:' || (n % 300), \
                    case n % 7 when 0 then 'member.add' when 1 then 'member.remove' else 'session.begin' end, \
                    n % 301, '{{}}' from {numbers};"
        ),
    );
}

fn ask_for_records(reader: &mut Reader<'_>, filter: AuditFilter, range: AuditRange) -> Result<()> {
    let filter = AuditFilter {
        organization: Some(OrganizationId(1)),
        ..filter
    };
    reader.audit().list(&filter, range).map(drop)
}

#[test]
fn sqlite_lists_records_of_an_organization_by_an_index() {
    let home = home::sqlite_file().expect("a file");
    home.open();
    audited(
        &home.url,
        "(with recursive t (n) as (select 1 union all select n + 1 from t where n < 20000) select n from t)",
    );
    let mut c = sqlite(home.url.strip_prefix("sqlite:").expect("a path"));
    for ((filter, indexes), range) in OF_AUDIT.iter().flat_map(of_each_range) {
        let asked = heard(&mut c, |c| {
            ask_for_records(&mut Reader::from(c), filter(), range)
        });
        assert_eq!(asked.len(), indexes.len(), "{asked:#?}");
        for (sql, index) in asked.iter().zip(indexes) {
            let plan = sqlite_plan(&mut c, sql);
            let [step] = &plan[..] else {
                panic!("{sql}: {plan:#?}")
            };
            assert!(
                step.starts_with("SEARCH") && step.contains(&format!("{index} (")),
                "{sql}: {step}"
            );
        }
    }
}

#[test]
fn postgres_lists_records_of_an_organization_by_an_index() {
    let Some(home) = home::postgres() else { return };
    home.open();
    audited(&home.url, "generate_series(1, 20000) n");
    let mut c = PgConnection::establish(&home.url).expect("PostgreSQL answers");
    execute_on(&mut c, "set plan_cache_mode = force_generic_plan; analyze");
    for ((filter, indexes), range) in OF_AUDIT.iter().flat_map(of_each_range) {
        let asked = heard(&mut c, |c| {
            ask_for_records(&mut Reader::from(c), filter(), range)
        });
        assert_eq!(asked.len(), indexes.len(), "{asked:#?}");
        for sql in &asked {
            let plan = postgres_plan(&mut c, sql);
            assert!(
                plan.iter().any(|line| line.contains("audit_organization")),
                "{sql}: {plan:#?}"
            );
            assert!(
                !plan.iter().any(|line| line.contains("Seq Scan")),
                "{sql}: {plan:#?}"
            );
        }
    }
}

/// A question about the first page of a list, one of its further pages, and what is new.
fn of_each_range<T: Copy>(question: &T) -> [(T, AuditRange); 3] {
    let ranges = [
        AuditRange::newest(None, 30),
        AuditRange::newest(Some(10_000), 30),
        AuditRange::following(10_000, 30),
    ];
    ranges.map(|range| (*question, range))
}

/// Twenty browsers of each of 500 users, for which 20,000 push messages wait, of which 40 are due.
fn pushes(url: &str, numbers: &str, session: &str) {
    execute(
        url,
        &format!(
            "insert into organizations (name, parameterized_name, user_limit, created_at) values ('A', 'a', 9, 1); \
             insert into users (email, email_key, name, nick, avatar, created_at) \
                select '', 'user' || n, 'User', 'user', '', 1 from {numbers} where n <= 500; \
             insert into organization_members (organization_id, user_id, nick_key, created_at) \
                select 1, id, email_key, 1 from users; \
             insert into sessions (hash, user_id, created_at, seen_at) \
                select {session}, 1 + n % 500, 1, 1 from {numbers} where n <= 10000; \
             insert into push_subscriptions (session_hash, user_id, endpoint, p256dh, auth, created_at) \
                select {session}, 1 + n % 500, 'https://push.example/' || n, {session}, {session}, 1 \
                from {numbers} where n <= 10000; \
             insert into pushes (session_hash, room_id, message_id, attempts, due_at, created_at) \
                select s.session_hash, r.n, 1, 0, case when s.user_id = 7 then 5 else 50 end, 1 \
                from push_subscriptions s join (select n from {numbers} where n <= 2) r on true;"
        ),
    );
}

fn ask_for_due_pushes(reader: &mut Reader<'_>) -> Result<()> {
    let due = reader.notifications().list_due_pushes(Timestamp(9), 256)?;
    assert_eq!(due.len(), 20);
    Ok(())
}

#[test]
fn sqlite_finds_push_messages_that_are_due_by_an_index() {
    let home = home::sqlite_file().expect("a file");
    home.open();
    let numbers = "(with recursive t (n) as (select 1 union all select n + 1 from t where n < 10000) select n from t)";
    pushes(&home.url, numbers, "cast('s' || n as blob)");
    let mut c = sqlite(home.url.strip_prefix("sqlite:").expect("a path"));
    for sql in heard(&mut c, |c| ask_for_due_pushes(&mut Reader::from(c))) {
        let plan = sqlite_plan(&mut c, &sql);
        for table in ["p USING INDEX pushes_due", "s USING PRIMARY KEY", "m USING"] {
            let search = format!("SEARCH {table}");
            assert!(
                plan.iter().any(|step| step.starts_with(&search)),
                "{plan:#?}"
            );
        }
    }
}

#[test]
fn postgres_finds_push_messages_that_are_due_by_an_index() {
    let Some(home) = home::postgres() else { return };
    home.open();
    pushes(
        &home.url,
        "generate_series(1, 10000) n",
        "('s' || n)::bytea",
    );
    let mut c = PgConnection::establish(&home.url).expect("PostgreSQL answers");
    execute_on(&mut c, "analyze");
    for sql in heard(&mut c, |c| ask_for_due_pushes(&mut Reader::from(c))) {
        let explain = format!("explain {}", sql.replace("$1", "9").replace("$2", "256"));
        let plan: Vec<Line> = diesel::sql_query(explain).load(&mut c).expect("a plan");
        let plan: Vec<String> = plan.into_iter().map(|line| line.text).collect();
        assert!(
            plan.iter().any(|line| line.contains("pushes_due")),
            "{plan:#?}"
        );
        assert!(
            !plan.iter().any(|line| line.contains("Seq Scan")),
            "{plan:#?}"
        );
    }
}
