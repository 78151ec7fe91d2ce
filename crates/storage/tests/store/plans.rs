//! How the databases find provided users: by an index, however many there are.

use std::sync::{Arc, Mutex};

use diesel::connection::InstrumentationEvent;
use diesel::prelude::*;
use diesel::sql_types::Text;
use eddyline_model::{OrganizationId, UserId};
use eddyline_storage::{ProvidedQuery, Result, Session};

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

/// Asks for users by each term and by all of them, for one user, and for the organizations below another.
fn ask_everything(session: &mut Session<'_>) -> Result<()> {
    let of = OrganizationId(1);
    let key = || Some("user77@example.org".to_owned());
    let none = ProvidedQuery { limit: Some(1), ..ProvidedQuery::default() };
    for query in [
        ProvidedQuery { subject_key: key(), ..none.clone() },
        ProvidedQuery { external_id: key(), ..none.clone() },
        ProvidedQuery { email_key: key(), ..none.clone() },
        ProvidedQuery { external_id: key(), email_key: key(), ..none.clone() },
        ProvidedQuery { subject_key: key(), external_id: key(), email_key: key(), ..none },
    ] {
        session.provided_users(of, &query)?;
    }
    session.provided_user(of, UserId(77))?;
    session.identity(UserId(77))?;
    session.identity_by_subject(of, "user77@example.org")?;
    session.provider("uid")?;
    session.organizations_below(of)?;
    Ok(())
}

/// The statements that a connection is given meanwhile, without their values.
fn statements<C: Connection>(c: &mut C, ask: impl FnOnce(&mut C) -> Result<()>) -> Vec<String> {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let told = heard.clone();
    c.set_instrumentation(move |event: InstrumentationEvent<'_>| {
        if let InstrumentationEvent::StartQuery { query, .. } = event {
            let text = query.to_string();
            let sql = text.split(" -- binds").next().expect("a split has a beginning").to_owned();
            told.lock().expect("nobody panics").push(sql);
        }
    });
    ask(c).expect("the questions are answered");
    c.set_instrumentation(|_: InstrumentationEvent<'_>| {});
    let heard = heard.lock().expect("nobody panics").clone();
    // Counting is asked for where a page is full, which each of them is.
    assert!(heard.iter().filter(|sql| sql.contains("COUNT(*)")).count() >= 5, "{heard:#?}");
    heard
}

/// Ten thousand provided users.
fn people(url: &str, numbers: &str) {
    execute(
        url,
        &format!(
            "insert into organizations (name, parameterized_name, user_limit, created_at) values ('A', 'a', 9, 1); \
             insert into identity_providers values (1, 'uid', 'hash', 1, 1); \
             insert into users (email, email_key, name, nick, avatar, created_at) \
                select 'user' || n, 'user' || n || '@example.org', 'User', 'user', '', 1 from {numbers}; \
             insert into identities \
                select id, 1, email_key, email_key, email_key, 1, 1, 1, null from users; \
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
    let mut c = SqliteConnection::establish(path).expect("SQLite opens");
    let asked = statements(&mut c, |c| ask_everything(&mut Session::from(c)));
    for sql in asked {
        let steps: Vec<Step> =
            diesel::sql_query(format!("explain query plan {sql}")).load(&mut c).expect("a plan");
        for Step { detail } in steps {
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
    let asked = statements(&mut c, |c| ask_everything(&mut Session::from(c)));
    // Plans for any values, since those for known ones are made anew each time; of a table that was filled
    // a moment ago, and of one that is known.
    execute_on(&mut c, "set plan_cache_mode = force_generic_plan");
    for known in [false, true] {
        if known {
            execute_on(&mut c, "analyze");
        }
        for sql in &asked {
            let values = vec!["null"; sql.matches('$').count()].join(", ");
            execute_on(&mut c, &format!("prepare question as {sql}"));
            let explain = format!("explain execute question ({values})");
            let plan: Vec<Line> = diesel::sql_query(explain).load(&mut c).expect("a plan");
            execute_on(&mut c, "deallocate question");
            for Line { text } in plan {
                let reads_all = text.contains("Seq Scan") || text.contains("Cond: (organization_id = $1)");
                // There is one provider only, which is read faster than an index.
                assert!(!reads_all || text.contains("identity_providers"), "{known}, {sql}: {text}");
            }
        }
    }
}

fn execute_on(c: &mut PgConnection, sql: &str) {
    diesel::connection::SimpleConnection::batch_execute(c, sql).expect("the statement is good");
}
