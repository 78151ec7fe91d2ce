//! Has the client made from the document that `OPENAPI_DOCUMENT` names.

use std::path::PathBuf;
use std::{env, error, fs};

use openapi_to_rust::{CodeGenerator, GeneratorConfig, SchemaAnalyzer};

fn main() -> Result<(), Box<dyn error::Error>> {
    println!("cargo::rerun-if-env-changed=OPENAPI_DOCUMENT");
    let document = env::var("OPENAPI_DOCUMENT")?;
    println!("cargo::rerun-if-changed={document}");
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let client = out.join("client");
    let generator = CodeGenerator::new(GeneratorConfig {
        spec_path: document.clone().into(),
        output_dir: client.clone(),
        enable_sse_client: false,
        tracing_enabled: false,
        ..GeneratorConfig::default()
    });
    let mut analysis =
        SchemaAnalyzer::new(serde_json::from_str(&fs::read_to_string(document)?)?)?.analyze()?;
    generator.write_files(&generator.generate_all(&mut analysis)?)?;
    // It cannot be included itself, since it begins with attributes of a module.
    let module = format!("#[path = {:?}]\npub mod client;\n", client.join("mod.rs"));
    fs::write(out.join("generated.rs"), module)?;
    Ok(())
}
