//! Which tests say that they show statements of docs/specification.md. A test says so in a line of
//! its documentation, `Shows: 4.2, 8.17`: documentation is an attribute of its function, so a mark
//! moves with its test and goes with it.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use proc_macro2::TokenTree::{Group, Ident, Punct};
use proc_macro2::{Delimiter, TokenStream, TokenTree};
use syn::{Expr, ExprLit, Lit, Meta};

/// A test that bears a mark.
pub(crate) struct Marked {
    /// Its path as `cargo test` prints it, after the name of its crate or of its test program. A
    /// test that a macro makes for several databases has the path of the function that they run.
    pub(crate) test: String,
    pub(crate) statements: Vec<String>,
}

/// All marked tests of the project.
///
/// # Panics
///
/// On a mark that is not on a test: nobody would see that it counts for nothing.
pub(crate) fn marked() -> Vec<Marked> {
    let mut marked = Vec::new();
    let sources = super::files()
        .into_iter()
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"));
    for source in sources {
        let text = fs::read_to_string(&source).unwrap();
        let written = text.lines().filter(|line| is_mark(line)).count();
        if written == 0 {
            continue;
        }
        let relative = source.strip_prefix(super::root()).unwrap();
        let module = module(relative)
            .unwrap_or_else(|| panic!("{} has marks, but no tests", relative.display()));
        let read = read(&module, text.parse().unwrap(), &mut marked);
        assert_eq!(
            read,
            written,
            "lines `/// Shows:` of {} that are read, and that are there: each is in the \
             documentation of a test",
            relative.display()
        );
    }
    marked
}

/// Whether a line of a file looks like a mark, in whichever kind of comment.
fn is_mark(line: &str) -> bool {
    let line = line.trim_start();
    let text = line.trim_start_matches(['/', '!']).trim_start();
    line.starts_with("//") && text.starts_with("Shows:")
}

/// The path of the module that a file is, after the name of its crate or of its test program.
fn module(file: &Path) -> Option<String> {
    let parts: Vec<&str> = file.iter().map(|part| part.to_str().unwrap()).collect();
    let parts: Vec<&str> = match parts.as_slice() {
        ["crates", of, "src", rest @ ..] => [&[*of], rest].concat(),
        ["crates", _, "tests", rest @ ..] | ["tests", "tests", rest @ ..] => rest.to_vec(),
        _ => return None,
    };
    let (file, directories) = parts.split_last()?;
    let mut parts = directories.to_vec();
    match file.strip_suffix(".rs")? {
        "lib" | "main" | "mod" => {}
        name => parts.push(name),
    }
    Some(parts.join("::"))
}

/// Collects the marked tests of a module, and returns how many marks they bear. It reads tokens
/// instead of items, because macros such as `proptest!` hold tests too.
fn read(module: &str, tokens: TokenStream, marked: &mut Vec<Marked>) -> usize {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let registered = registered(&tokens);
    let mut attributes: Vec<Meta> = Vec::new();
    let mut count = 0;
    for (at, token) in tokens.iter().enumerate() {
        match (token, tokens.get(at + 1), tokens.get(at + 2)) {
            (Punct(hash), Some(Group(attribute)), _) if hash.as_char() == '#' => {
                attributes.extend(syn::parse2::<Meta>(attribute.stream()));
            }
            (Ident(word), Some(Ident(name)), Some(Group(body))) if word == "mod" => {
                count += read(&format!("{module}::{name}"), body.stream(), marked);
            }
            (Ident(word), Some(Ident(name)), _) if word == "fn" => {
                let marks: Vec<String> = attributes.iter().filter_map(mark).collect();
                if marks.is_empty() {
                    continue;
                }
                assert!(
                    attributes.iter().any(is_test) || registered.contains(&name.to_string()),
                    "{module}::{name} is marked, but is no test"
                );
                count += marks.len();
                marked.push(Marked {
                    test: format!("{module}::{name}"),
                    statements: marks
                        .iter()
                        .flat_map(|list| list.split(','))
                        .map(|number| number.trim().to_owned())
                        .collect(),
                });
            }
            (Group(body), ..) if is_call(&tokens[..at]) => {
                count += read(module, body.stream(), marked);
            }
            (Group(body), ..) if body.delimiter() == Delimiter::Brace => attributes.clear(),
            (Punct(end), ..) if end.as_char() == ';' => attributes.clear(),
            _ => {}
        }
    }
    count
}

/// Whether the group after these tokens is what a macro is given.
fn is_call(before: &[TokenTree]) -> bool {
    matches!(before, [.., Ident(_), Punct(call)] if call.as_char() == '!')
}

/// What stands after `Shows:` in an attribute that is a line of documentation.
fn mark(attribute: &Meta) -> Option<String> {
    let Meta::NameValue(pair) = attribute else {
        return None;
    };
    match &pair.value {
        Expr::Lit(ExprLit {
            lit: Lit::Str(line),
            ..
        }) if pair.path.is_ident("doc") => {
            Some(line.value().trim().strip_prefix("Shows:")?.to_owned())
        }
        _ => None,
    }
}

/// Whether an attribute is `#[test]` or one that ends so, such as `#[tokio::test]`.
fn is_test(attribute: &Meta) -> bool {
    let last = attribute.path().segments.last();
    last.is_some_and(|segment| segment.ident == "test")
}

/// The functions of a module that other code runs as tests: those that macros are given, such as
/// `on_both_databases![a_test, another]`, and those that the tests of a submodule call, as
/// `super::a_test`.
fn registered(tokens: &[TokenTree]) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for (at, token) in tokens.iter().enumerate() {
        match (&tokens[..at], token) {
            (before, Group(given)) if is_call(before) => {
                names.extend(given.stream().into_iter().filter_map(|token| match token {
                    Ident(name) => Some(name.to_string()),
                    _ => None,
                }));
            }
            ([.., Ident(word), Ident(_)], Group(body)) if word == "mod" => {
                called(body.stream(), &mut names);
            }
            _ => {}
        }
    }
    names
}

/// Collects what stands after `super::` in the code of a submodule.
fn called(code: TokenStream, names: &mut BTreeSet<String>) {
    let tokens: Vec<TokenTree> = code.into_iter().collect();
    for (at, token) in tokens.iter().enumerate() {
        match (&tokens[..at], token) {
            ([.., Ident(word), Punct(_), Punct(_)], Ident(name)) if word == "super" => {
                names.insert(name.to_string());
            }
            (_, Group(inner)) => called(inner.stream(), names),
            _ => {}
        }
    }
}
