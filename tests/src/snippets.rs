//! The blocks of code in the project's documents.

use std::path::Path;
use std::{fs, io};

/// A fenced block of a document.
pub struct Block {
    /// Path of the document below the project's root.
    pub document: String,
    /// The line of the opening fence, counted from 1.
    pub line: usize,
    /// The word behind the opening fence; empty where there is none.
    pub language: String,
    /// What stands between the fences.
    pub text: String,
}

/// The paths of the project's documents below its root: those in the root first, then those in
/// `docs`, by name.
///
/// # Errors
/// When a folder cannot be read.
pub fn documents(root: &Path) -> io::Result<Vec<String>> {
    let mut documents = Vec::new();
    for folder in ["", "docs/"] {
        let entries = fs::read_dir(root.join(folder))?;
        let names = entries.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()));
        let mut names = names.collect::<io::Result<Vec<String>>>()?;
        names.retain(|name| Path::new(name).extension() == Some("md".as_ref()));
        names.sort();
        documents.extend(names.into_iter().map(|name| format!("{folder}{name}")));
    }
    Ok(documents)
}

/// The blocks of all documents, in order.
///
/// # Errors
/// When a document cannot be read, or a block has no end.
pub fn blocks(root: &Path) -> io::Result<Vec<Block>> {
    let mut blocks = Vec::new();
    for document in documents(root)? {
        let text = fs::read_to_string(root.join(&document))?;
        let mut open: Option<Block> = None;
        for (number, line) in text.lines().enumerate() {
            open = match (open, line.trim_start().strip_prefix("```")) {
                (Some(block), Some(_)) => {
                    blocks.push(block);
                    None
                }
                (Some(block), None) => Some(Block {
                    text: block.text + line + "\n",
                    ..block
                }),
                (None, Some(language)) => {
                    let (document, language) = (document.clone(), language.trim().to_owned());
                    Some(Block {
                        document,
                        line: number + 1,
                        language,
                        text: String::new(),
                    })
                }
                (None, None) => None,
            };
        }
        if let Some(Block { document, line, .. }) = open {
            return Err(io::Error::other(format!(
                "the block at {document}:{line} has no end"
            )));
        }
    }
    Ok(blocks)
}
