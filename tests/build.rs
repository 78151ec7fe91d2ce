//! Writes the Rust snippets of the README into one function, which the house tests compile.

use std::path::Path;
use std::{env, error, fs};

const HEAD: &str = "async fn readme(stop: tokio::sync::watch::Receiver<bool>, token: &str) \
                    -> Result<(), Box<dyn std::error::Error>> {\n";

fn main() -> Result<(), Box<dyn error::Error>> {
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("../README.md");
    println!("cargo::rerun-if-changed={}", readme.display());
    let mut function = HEAD.to_owned();
    for snippet in fs::read_to_string(readme)?.split("```rust\n").skip(1) {
        let (code, _) = snippet.split_once("```").ok_or("a snippet of the README has no end")?;
        function.push_str(code);
    }
    function.push_str("Ok(())\n}\n");
    fs::write(Path::new(&env::var("OUT_DIR")?).join("readme.rs"), function)?;
    Ok(())
}
