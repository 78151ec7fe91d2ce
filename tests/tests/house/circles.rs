//! Within a crate, modules know each other one way only: of the submodules of a module none uses
//! what is defined in another that uses it, directly or by way of others. A module and its
//! submodules are one unit, since what they share stands in the module. Unit tests are free, and so
//! is who only re-exports.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs;
use std::path::Path;

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens as _;
use syn::{Attribute, Item, UseTree};

type ModulePath = Vec<String>;

/// What a file imports: a name, and the path behind it.
struct Import {
    name: String,
    path: Vec<String>,
    /// Whether others can see it.
    is_public: bool,
}

/// A module that has a file of its own.
#[derive(Default)]
struct Module {
    children: HashSet<String>,
    items: HashSet<String>,
    imports: Vec<Import>,
    /// The paths in its code, and single words as paths of one segment.
    words: Vec<Vec<String>>,
}

/// The modules of a crate by their paths.
#[derive(Default)]
struct Modules(BTreeMap<ModulePath, Module>);

fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && attribute
                .meta
                .to_token_stream()
                .to_string()
                .contains("test")
    })
}

fn item_name(item: &Item) -> Option<String> {
    Some(match item {
        Item::Const(item) => item.ident.to_string(),
        Item::Enum(item) => item.ident.to_string(),
        Item::Fn(item) => item.sig.ident.to_string(),
        Item::Macro(item) => item.ident.as_ref()?.to_string(),
        Item::Mod(item) => item.ident.to_string(),
        Item::Static(item) => item.ident.to_string(),
        Item::Struct(item) => item.ident.to_string(),
        Item::Trait(item) => item.ident.to_string(),
        Item::Type(item) => item.ident.to_string(),
        Item::Union(item) => item.ident.to_string(),
        _ => return None,
    })
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

fn imports(tree: &UseTree, mut path: Vec<String>, is_public: bool, found: &mut Vec<Import>) {
    match tree {
        UseTree::Path(next) => {
            path.push(next.ident.to_string());
            imports(&next.tree, path, is_public, found);
        }
        UseTree::Name(last) if last.ident == "self" => {
            let name = path.last().cloned().unwrap_or_default();
            found.push(Import {
                name,
                path,
                is_public,
            });
        }
        UseTree::Name(last) => {
            path.push(last.ident.to_string());
            found.push(Import {
                name: last.ident.to_string(),
                path,
                is_public,
            });
        }
        UseTree::Rename(last) => {
            path.push(last.ident.to_string());
            found.push(Import {
                name: last.rename.to_string(),
                path,
                is_public,
            });
        }
        UseTree::Glob(_) => found.push(Import {
            name: "*".into(),
            path,
            is_public,
        }),
        UseTree::Group(group) => {
            for tree in &group.items {
                imports(tree, path.clone(), is_public, found);
            }
        }
    }
}

/// The paths in code, those within macros as well.
fn words(tokens: TokenStream, found: &mut Vec<Vec<String>>) {
    let mut path: Vec<String> = Vec::new();
    let mut colons = 0;
    for token in tokens {
        match token {
            TokenTree::Ident(ident) if colons == 2 => path.push(ident.to_string()),
            TokenTree::Ident(ident) => {
                found.push(std::mem::take(&mut path));
                path.push(ident.to_string());
            }
            TokenTree::Punct(punct) if punct.as_char() == ':' && !path.is_empty() => {
                colons += 1;
                continue;
            }
            TokenTree::Group(group) => {
                found.push(std::mem::take(&mut path));
                words(group.stream(), found);
            }
            _ => found.push(std::mem::take(&mut path)),
        }
        colons = 0;
    }
    found.push(path);
}

impl Modules {
    fn load(&mut self, file: &Path, path: ModulePath, is_directory: bool) {
        let text = fs::read_to_string(file).unwrap();
        let parsed =
            syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let mut module = Module::default();
        let below = match is_directory {
            true => file.parent().unwrap().to_owned(),
            false => file.with_extension(""),
        };
        for item in parsed
            .items
            .iter()
            .filter(|item| !is_test(attributes(item)))
        {
            match item {
                Item::Use(item) => {
                    let is_public = !matches!(item.vis, syn::Visibility::Inherited);
                    imports(&item.tree, Vec::new(), is_public, &mut module.imports);
                }
                Item::Mod(item) if item.content.is_none() => {
                    let name = item.ident.to_string();
                    let child = [path.as_slice(), std::slice::from_ref(&name)].concat();
                    let (flat, nested) = (
                        below.join(format!("{name}.rs")),
                        below.join(&name).join("mod.rs"),
                    );
                    match flat.exists() {
                        true => self.load(&flat, child, false),
                        false => self.load(&nested, child, true),
                    }
                    module.children.insert(name);
                }
                item => {
                    module.items.extend(item_name(item));
                    words(item.to_token_stream(), &mut module.words);
                }
            }
        }
        module.words.retain(|word| !word.is_empty());
        self.0.insert(path, module);
    }

    /// A path of a module, from the root of the crate; `None` for what lies elsewhere.
    fn absolute(&self, at: &ModulePath, path: &[String]) -> Option<Vec<String>> {
        let module = &self.0[at];
        let (first, rest) = path.split_first()?;
        match first.as_str() {
            "crate" => Some(rest.to_vec()),
            "self" => Some([at, rest].concat()),
            "super" => {
                let above = at[..at.len().checked_sub(1)?].to_vec();
                match rest.first().map(String::as_str) {
                    Some("super") => self.absolute(&above, rest),
                    _ => Some([&above, rest].concat()),
                }
            }
            name if module.children.contains(name) => Some([at, path].concat()),
            _ => None,
        }
    }

    /// The module in which the last name of a path is defined; `None` when the path is one of a
    /// module.
    fn definition(&self, path: &[String], depth: usize) -> Option<ModulePath> {
        let mut at = ModulePath::new();
        for (position, name) in path.iter().enumerate() {
            let module = &self.0[&at];
            if module.children.contains(name) {
                at.push(name.clone());
                continue;
            }
            if module.items.contains(name) || depth == 0 {
                return Some(at);
            }
            let import = module.imports.iter().find(|import| import.name == *name);
            let Some(target) = import.and_then(|import| self.absolute(&at, &import.path)) else {
                return Some(at);
            };
            return self.definition(&[&target, &path[position + 1..]].concat(), depth - 1);
        }
        None
    }

    /// What a module uses of other modules: where it is defined, and its name.
    fn used_by(&self, at: &ModulePath) -> BTreeSet<(ModulePath, String)> {
        let module = &self.0[at];
        let mut paths: Vec<Vec<String>> = Vec::new();
        for import in &module.imports {
            let Some(target) = self.absolute(at, &import.path) else {
                continue;
            };
            let is_used = || module.words.iter().any(|word| word[0] == import.name);
            if !import.is_public || is_used() {
                paths.push(target);
            }
        }
        for word in module.words.iter().filter(|word| word.len() > 1) {
            let import = module.imports.iter().find(|import| import.name == word[0]);
            paths.extend(match import {
                Some(import) => self
                    .absolute(at, &import.path)
                    .map(|target| [&target, &word[1..]].concat()),
                None => self.absolute(at, word),
            });
        }
        let defined = |path: &Vec<String>| Some((self.definition(path, 8)?, path.last()?.clone()));
        paths
            .iter()
            .filter_map(defined)
            .filter(|(used, _)| used != at)
            .collect()
    }

    /// What the submodules of a module use of each other, each taken together with its own
    /// submodules.
    fn between_submodules(&self, of: &ModulePath) -> Uses {
        let submodule = |path: &ModulePath| {
            path.strip_prefix(of.as_slice())
                .and_then(|rest| rest.first().cloned())
        };
        let mut uses = Uses::new();
        for at in self.0.keys() {
            let Some(from) = submodule(at) else { continue };
            let of_it = uses.entry(from.clone()).or_default();
            for (used, name) in self.used_by(at) {
                if let Some(to) = submodule(&used).filter(|to| *to != from) {
                    of_it.entry(to).or_default().insert(name);
                }
            }
        }
        uses
    }

    /// What is used within circles, as texts.
    fn circles(&self, name: &str) -> Vec<String> {
        let mut found = Vec::new();
        for of in self.0.keys() {
            let uses = self.between_submodules(of);
            let place = [&[name.to_owned()], of.as_slice()].concat().join("::");
            for (from, others) in &uses {
                for (to, names) in others {
                    if reach(&uses, to).contains(from) {
                        let names: Vec<&str> = names.iter().map(String::as_str).collect();
                        found.push(format!("{place}: {from} uses {} of {to}", names.join(", ")));
                    }
                }
            }
        }
        found
    }
}

/// The names that each module uses of each other module.
type Uses = BTreeMap<String, BTreeMap<String, BTreeSet<String>>>;

/// What a module uses, directly or by way of others.
fn reach<'a>(uses: &'a Uses, from: &str) -> BTreeSet<&'a String> {
    let mut reached = BTreeSet::new();
    let mut open: Vec<&String> = uses[from].keys().collect();
    while let Some(next) = open.pop() {
        if reached.insert(next) {
            open.extend(uses[next].keys());
        }
    }
    reached
}

#[test]
fn modules_do_not_use_each_other_in_circles() {
    let mut wrong = String::new();
    for package in super::arrows::metadata()["packages"].as_array().unwrap() {
        for target in package["targets"].as_array().unwrap() {
            let kind = target["kind"][0].as_str().unwrap();
            if !matches!(kind, "lib" | "bin" | "proc-macro") {
                continue;
            }
            let mut modules = Modules::default();
            modules.load(
                Path::new(target["src_path"].as_str().unwrap()),
                Vec::new(),
                true,
            );
            for used in modules.circles(target["name"].as_str().unwrap()) {
                wrong += &format!("{used}\n");
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "these modules use each other in circles:\n{wrong}"
    );
}
