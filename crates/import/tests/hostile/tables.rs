//! All rows of all tables, and the organization that each belongs to.

use std::collections::{BTreeMap, BTreeSet};

use eddyline_model::names::domain_of;
use eddyline_storage::{Error, Store};
use serde_json::{Map, Value};

pub(crate) type Row = Map<String, Value>;
/// The rows of each table, by their JSON.
pub(crate) type Tables = BTreeMap<String, BTreeMap<String, Row>>;

/// Tables that all organizations share, and objects, which belong to files.
const SHARED: &[&str] = &["log_clock", "objects", "settings"];
/// Columns that name users.
const OF_USERS: &[&str] = &[
    "user_id",
    "creator_id",
    "inviter_id",
    "to_user_id",
    "sender_id",
    "peer_id",
];

pub(crate) fn read(store: &Store) -> Tables {
    let tables = store.dump(|dump| {
        let mut tables = Tables::new();
        for table in dump.tables() {
            let rows = tables.entry(table.name.clone()).or_default();
            dump.rows(&table.name, |row| {
                let values: Vec<Value> = serde_json::from_str(&row).unwrap();
                let columns = table.columns.iter().cloned();
                rows.insert(row, columns.zip(values).collect());
                Ok::<_, Error>(())
            })?;
        }
        Ok::<_, Error>(tables)
    });
    tables.unwrap()
}

pub(crate) fn number(row: &Row, column: &str) -> Option<i64> {
    row.get(column)?.as_i64()
}

pub(crate) fn rows<'t>(tables: &'t Tables, table: &str) -> impl Iterator<Item = &'t Row> {
    tables.get(table).into_iter().flat_map(BTreeMap::values)
}

/// The numbers of what belongs to the organization that an archive went into.
struct Target {
    organization: i64,
    /// Users who belong to no other organization, and those that were made.
    own: BTreeSet<i64>,
    /// Its members before, and users that were made.
    members: BTreeSet<i64>,
    rooms: BTreeSet<i64>,
    groups: BTreeSet<i64>,
}

impl Target {
    fn new(before: &Tables, after: &Tables, name: &str) -> Option<Self> {
        let organization = rows(after, "organization_names")
            .find(|row| row["parameterized_name"] == name)
            .and_then(|row| number(row, "organization_id"))?;
        let ids = |tables| -> BTreeSet<i64> {
            let users = rows(tables, "users");
            users.filter_map(|row| number(row, "id")).collect()
        };
        let memberships = |is_it: bool| -> BTreeSet<i64> {
            rows(before, "organization_members")
                .filter(|row| (number(row, "organization_id") == Some(organization)) == is_it)
                .filter_map(|row| number(row, "user_id"))
                .collect()
        };
        let (mut members, elsewhere) = (memberships(true), memberships(false));
        members.extend(made_before(before, organization));
        members.extend(ids(after).difference(&ids(before)));
        let own: BTreeSet<i64> = members.difference(&elsewhere).copied().collect();
        let of_organization = |table| {
            rows(after, table)
                .filter(move |row| number(row, "organization_id") == Some(organization))
        };
        let flows = of_organization("flows").filter_map(|row| number(row, "room_id"));
        let private = rows(after, "private_rooms").filter(|row| {
            let users = ["low_user_id", "high_user_id"].map(|column| number(row, column));
            users.iter().flatten().all(|user| own.contains(user))
        });
        let private = private.filter_map(|row| number(row, "room_id"));
        Some(Self {
            organization,
            rooms: flows.chain(private).collect(),
            groups: of_organization("user_groups")
                .filter_map(|row| number(row, "id"))
                .collect(),
            own,
            members,
        })
    }

    fn has(&self, table: &str, row: &Row) -> bool {
        let is_one_of = |column: &str, of: &BTreeSet<i64>| {
            number(row, column).is_some_and(|number| of.contains(&number))
        };
        match table {
            "organizations" => number(row, "id") == Some(self.organization),
            "rooms" => is_one_of("id", &self.rooms),
            "users" => is_one_of("id", &self.own),
            "user_group_members" => is_one_of("group_id", &self.groups),
            // Mail goes to those who got an account.
            "mails" => is_one_of("target_id", &self.own),
            "event_log" if row["room_id"].is_null() => {
                row["user_id"].is_null() || is_one_of("user_id", &self.own)
            }
            _ if row.contains_key("organization_id") => {
                number(row, "organization_id") == Some(self.organization)
            }
            _ if row.contains_key("room_id") => is_one_of("room_id", &self.rooms),
            _ => is_one_of("user_id", &self.own),
        }
    }
}

/// Accounts that imports into an organization have made.
fn made_before(tables: &Tables, organization: i64) -> impl Iterator<Item = i64> {
    const MADE_ACCOUNT: i64 = 6;
    rows(tables, "imported_records")
        .filter(move |row| number(row, "organization_id") == Some(organization))
        .filter(|row| number(row, "kind") == Some(MADE_ACCOUNT))
        .filter_map(|row| number(row, "local_id"))
}

/// Fails when an import into an organization has changed what is not its own.
pub(crate) fn compare(before: &Tables, after: &Tables, organization: &str) {
    let target = Target::new(before, after, organization);
    for (table, rows) in after {
        if SHARED.contains(&table.as_str()) {
            continue;
        }
        let of_others = |tables: &Tables| -> BTreeSet<String> {
            let rows = tables.get(table).into_iter().flatten();
            rows.filter(|(_, row)| target.as_ref().is_none_or(|target| !target.has(table, row)))
                .map(|(json, _)| json.clone())
                .collect()
        };
        let (was, is) = (of_others(before), of_others(after));
        let added: Vec<&String> = is.difference(&was).collect();
        let gone: Vec<&String> = was.difference(&is).collect();
        assert!(
            added.is_empty() && gone.is_empty(),
            "{table}, which an import into {organization} may not change: {added:?} instead of {gone:?}"
        );
        let Some(target) = &target else { continue };
        for (json, row) in rows {
            if target.has(table, row) && !before[table].contains_key(json) {
                check_new(after, table, row, target);
            }
        }
    }
    let Some(target) = target else { return };
    for user in rows(after, "users") {
        check_user(before, user, &target);
    }
}

/// Checks that a new row of the organization names only its members and those who got an account.
fn check_new(tables: &Tables, table: &str, row: &Row, target: &Target) {
    // No user has a number below 1.
    let known = |user: i64| user <= 0 || target.members.contains(&user);
    for column in OF_USERS {
        if let Some(user) = number(row, column) {
            assert!(known(user), "{table}: {row:?}");
        }
    }
    for column in ["tags", "explicit_tags"] {
        let tags = row.get(column).and_then(Value::as_str).unwrap_or_default();
        for tag in tags.split('\n') {
            let prefixes = [":user:", ":unread:", ":highlight:"];
            let named = prefixes.iter().find_map(|prefix| tag.strip_prefix(prefix));
            let user = named.and_then(|number| number.parse().ok());
            assert!(user.is_none_or(known), "{table}: {row:?}");
        }
    }
    let content = row.get("content").and_then(Value::as_str);
    let content: Option<Value> = content.and_then(|text| serde_json::from_str(text).ok());
    let user = content.and_then(|content| content["description"]["user"].as_i64());
    assert!(user.is_none_or(known), "{table}: {row:?}");
    if matches!(table, "sources" | "threads")
        && let Some(id) = number(row, "application_id")
    {
        let application = rows(tables, "applications").find(|row| number(row, "id") == Some(id));
        assert!(
            application.is_some_and(|row| row["secret"].is_null()),
            "{row:?}"
        );
    }
    if table == "organizations" {
        assert!(row["parent_id"].is_null(), "{row:?}");
    }
    if table == "rooms" {
        let last = number(row, "last_message_id").unwrap_or_default();
        // Posts of the test come after the numbers of the archive.
        assert!(
            (0..=i64::from(u32::MAX / 2) + 1_000).contains(&last),
            "{row:?}"
        );
    }
}

/// Checks that a new account has no address of another organization, and one that is proved only
/// within the domains of its own.
fn check_user(before: &Tables, user: &Row, target: &Target) {
    let id = number(user, "id");
    if rows(before, "users").any(|row| number(row, "id") == id) {
        return;
    }
    let key = user["email_key"].as_str().unwrap();
    let holder = rows(before, "organization_domains")
        .find(|row| row["domain"] == domain_of(key))
        .and_then(|row| number(row, "organization_id"));
    let is_own = holder == Some(target.organization);
    assert!(holder.is_none() || is_own, "{user:?}");
    let is_proved = user["email_proved"] == 1 || user["email_proved"] == true;
    assert!(!is_proved || is_own, "{user:?}");
}
