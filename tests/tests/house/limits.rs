//! Everything in library code that callers share has its place in docs/limits.md: a share of its own,
//! or the reason why it needs none.

use std::collections::BTreeSet;
use std::fs;

use syn::visit::{self, Visit};

/// Crates whose code serves no callers: they measure and test.
const APART: &[&str] = &["bench", "testing"];
/// Types that hold what several callers share: permits, queues, caches, counters, and state behind
/// locks.
const SHARED: &[&str] = &[
    "Semaphore",
    "KeyedSemaphore",
    "FairSemaphore",
    "Mutex",
    "RwLock",
    "VecDeque",
    "Cache",
    "LoadingCache",
    "LruCache",
    "DashMap",
    "AtomicU32",
    "AtomicU64",
    "AtomicUsize",
    "AtomicI64",
    "SyncSender",
    "UnboundedSender",
];
/// Modules whose `Sender` leads to a queue. Those of `oneshot` and `watch` hold one value.
const QUEUES: &[&str] = &["mpsc", "broadcast"];

/// The types of [`SHARED`] in fields and statics of a file, outside of its tests.
#[derive(Default)]
struct SharedState {
    types: BTreeSet<String>,
    is_kept: bool,
}

fn is_of_tests(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let is_cfg = attribute.path().is_ident("cfg");
        is_cfg
            && attribute
                .parse_args::<syn::Path>()
                .is_ok_and(|path| path.is_ident("test"))
    })
}

impl SharedState {
    fn within(&mut self, visit: impl FnOnce(&mut Self)) {
        let outer = std::mem::replace(&mut self.is_kept, true);
        visit(self);
        self.is_kept = outer;
    }
}

impl<'ast> Visit<'ast> for SharedState {
    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        if !is_of_tests(&module.attrs) {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_item_fn(&mut self, function: &'ast syn::ItemFn) {
        if !is_of_tests(&function.attrs) {
            visit::visit_item_fn(self, function);
        }
    }

    fn visit_field(&mut self, field: &'ast syn::Field) {
        self.within(|state| state.visit_type(&field.ty));
    }

    fn visit_item_static(&mut self, item: &'ast syn::ItemStatic) {
        self.within(|state| state.visit_type(&item.ty));
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let names: Vec<String> = path
            .segments
            .iter()
            .map(|segment| segment.ident.to_string())
            .collect();
        if let (true, Some(name)) = (self.is_kept, names.last()) {
            let module = names.len().checked_sub(2).map(|at| names[at].as_str());
            let is_queue = matches!(name.as_str(), "Sender" | "Receiver")
                && module.is_some_and(|module| QUEUES.contains(&module));
            if is_queue || SHARED.contains(&name.as_str()) {
                self.types.insert(name.clone());
            }
        }
        visit::visit_path(self, path);
    }
}

/// The name of a file in docs/limits.md: its crate, and its path below `src`.
fn name_in_table(file: &std::path::Path) -> Option<String> {
    let path = file.strip_prefix(super::root()).ok()?.to_str()?;
    let (name, rest) = path.strip_prefix("crates/")?.split_once("/src/")?;
    let is_source = rest.ends_with(".rs")
        && !rest.ends_with("tests.rs")
        && !rest.split('/').any(|folder| folder == "tests");
    (is_source && !APART.contains(&name)).then(|| format!("{name}/{rest}"))
}

fn shared_types(text: &str) -> BTreeSet<String> {
    let mut state = SharedState::default();
    state.visit_file(&syn::parse_file(text).unwrap());
    state.types
}

#[test]
fn what_callers_share_is_in_the_table_of_limits() {
    let table = fs::read_to_string(super::root().join("docs/limits.md")).unwrap();
    let mut missing = String::new();
    for file in super::files() {
        let Some(name) = name_in_table(&file) else {
            continue;
        };
        let types = shared_types(&fs::read_to_string(&file).unwrap());
        if !types.is_empty() && !table.contains(&format!("`{name}`")) {
            let types: Vec<String> = types.into_iter().collect();
            missing += &format!("{name}: {}\n", types.join(", "));
        }
    }
    assert!(
        missing.is_empty(),
        "docs/limits.md does not say who has which share of:\n{missing}"
    );
}

#[test]
fn the_table_of_limits_names_files_that_exist() {
    let table = fs::read_to_string(super::root().join("docs/limits.md")).unwrap();
    let files: BTreeSet<String> = super::files()
        .iter()
        .filter_map(|file| name_in_table(file))
        .collect();
    let named = table.split('`').skip(1).step_by(2);
    let gone: Vec<&str> = named
        .filter(|name| name.ends_with(".rs") && !files.contains(*name))
        .collect();
    assert!(gone.is_empty(), "docs/limits.md names {gone:?}");
}

#[test]
fn shared_state_is_seen_in_fields_and_statics_only() {
    let types = shared_types(
        "static LOGGED: AtomicU64 = AtomicU64::new(0);
         struct Queue { jobs: Option<mpsc::Sender<u8>>, reply: oneshot::Sender<u8> }
         fn local() { let pieces: VecDeque<u8> = VecDeque::new(); }
         #[cfg(test)] mod tests { struct Counted(std::sync::Mutex<u8>); }",
    );
    let types: Vec<&str> = types.iter().map(String::as_str).collect();
    assert_eq!(types, ["AtomicU64", "Sender"]);
}
