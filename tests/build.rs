//! Writes the Rust of the documents into functions, one for each document, which the house tests
//! compile.

#[path = "src/snippets.rs"]
#[expect(unreachable_pub, reason = "a module of the library, too")]
mod snippets;

use std::fmt::Write as _;
use std::path::Path;
use std::{env, error, fs};

const ARGUMENTS: &str = "(stop: tokio::sync::watch::Receiver<bool>, token: &str) \
                         -> Result<(), Box<dyn std::error::Error>> {\n";

fn main() -> Result<(), Box<dyn error::Error>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut functions = String::new();
    let blocks = snippets::blocks(&root)?;
    for (number, document) in snippets::documents(&root)?.into_iter().enumerate() {
        println!("cargo::rerun-if-changed={}", root.join(&document).display());
        let is_ours =
            |block: &&snippets::Block| block.document == document && block.language == "rust";
        if !blocks.iter().any(|block| is_ours(&block)) {
            continue;
        }
        write!(functions, "async fn document_{number}{ARGUMENTS}")?;
        for block in blocks.iter().filter(is_ours) {
            writeln!(functions, "// {document}:{}\n{}", block.line, block.text)?;
        }
        functions.push_str("Ok(())\n}\n");
    }
    // A document that is new.
    println!("cargo::rerun-if-changed={}", root.join("docs").display());
    println!("cargo::rerun-if-changed=src/snippets.rs");
    fs::write(
        Path::new(&env::var("OUT_DIR")?).join("documents.rs"),
        functions,
    )?;
    Ok(())
}
