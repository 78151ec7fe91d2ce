//! A filter that is read is within its bounds, and prints as a text that is read the same; so does
//! the path of an attribute.

#![no_main]

use eddyline_scim::filter::{Filter, MAX_FILTER, MAX_TERMS};
use eddyline_scim::path::{MAX_PATH, Path};
use eddyline_scim::{GroupFilter, ScimError, ScimType};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    match text.parse::<Filter>() {
        Ok(filter) => {
            assert!((1..=MAX_TERMS).contains(&filter.terms().len()));
            assert!(filter.terms().iter().all(|term| !term.value.contains('\0')));
            let printed = filter.to_string();
            assert!(
                printed.len() <= text.len() && text.len() <= MAX_FILTER,
                "{printed}"
            );
            assert_eq!(printed.parse(), Ok(filter));
        }
        Err(error) => check(&error, &[ScimType::InvalidFilter]),
    }
    match text.parse::<GroupFilter>() {
        Ok(filter) => assert!((1..=MAX_TERMS).contains(&filter.terms().len())),
        Err(error) => check(&error, &[ScimType::InvalidFilter]),
    }
    match text.parse::<Path>() {
        Ok(path) => {
            let printed = path.to_string();
            assert!(
                printed.len() <= text.len() && text.len() <= MAX_PATH,
                "{printed}"
            );
            assert_eq!(printed.parse(), Ok(path));
        }
        Err(error) => check(&error, &[ScimType::InvalidPath, ScimType::InvalidFilter]),
    }
});

fn check(error: &ScimError, kinds: &[ScimType]) {
    assert!(kinds.contains(&error.scim_type), "{error:?}");
    // Names of a text are repeated, and escaped when they are odd, but never the whole text.
    assert!(error.detail.chars().count() <= 2_000, "{error}");
}
