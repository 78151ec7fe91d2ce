# `just` lists the recipes.
_default:
    @just --list

# Build everything
build:
    cargo build --workspace --all-targets

# Run all tests; PostgreSQL is used when it is installed
test *arguments:
    cargo test --workspace {{ arguments }}

# Break everything under load, and count what got lost: for so many minutes, and some more
chaos minutes="10" *arguments:
    EDDYLINE_CHAOS_MINUTES={{ minutes }} cargo test --release -p eddyline-tests --test chaos {{ arguments }}

# Write down what every test sends and is answered, for comparing two versions with `diff -r`
record folder *arguments:
    EDDYLINE_TEST_RECORD={{ folder }} cargo test -p eddyline-tests --test service {{ arguments }}

# Write docs/conformance.md anew, from the marks of the tests
conformance:
    EDDYLINE_TEST_UPDATE=1 cargo test -p eddyline-tests --test house conformance

# Look for mistakes, and for dependencies that break the rules
lint:
    cargo fmt --all --check
    cargo clippy --workspace --all-targets -- -D warnings
    cargo deny check bans licenses

# Build and open the documentation
doc:
    cargo doc --workspace --no-deps --open

# Build the documents as a book, into target/book; needs mdbook
book:
    mdbook build

# Format all sources
fmt:
    cargo fmt --all

# Everything the CI does
ci:
    .ci/run

# Build what is published of a version, into this folder
release folder:
    deploy/release {{ folder }}

# Take the pictures of the README anew, of the demonstration
screenshots *folder:
    cargo run -p eddyline-tests --example screenshots -- {{ folder }}

# Serve a small, lively organization
demo *arguments:
    cargo run -- demo {{ arguments }}

# Measure the server: a table, and bench.json (--quick takes a minute, --peers measures nchan too)
bench *arguments:
    cargo build --release -p eddyline-server
    cargo run --release -p eddyline-bench -- {{ arguments }}

# Look for known vulnerabilities in the dependencies; needs the advisory database of RustSec
advisories:
    cargo deny check advisories

# Imports so many random archives of strangers beside another tenant, on each database: docs/fuzzing.md
hostile-archives count:
    EDDYLINE_HOSTILE_ARCHIVES={{ count }} cargo test --release -p eddyline-import --test hostile -- --nocapture
