//! The forms of a path that old clients use and that mean the same.

use std::borrow::Cow;

use eddyline_model::paths::{OLD_PREFIX, keeps_suffix};

/// The path under which the router knows a request: without a leading `/v1`, doubled slashes, a
/// slash at the end, and a `.json` suffix of the last segment.
///
/// Under `/files`, `/download` and `/avatars` a suffix belongs to the name, and `/openapi.json` and
/// `/asyncapi.json` are called so. Nothing is decoded: segments come out as they went in. A path that does not begin
/// with a slash (`*`) stays as it is.
pub(crate) fn normalize(path: &str) -> Cow<'_, str> {
    if !path.starts_with('/') {
        return Cow::Borrowed(path);
    }
    let mut segments: Vec<&str> = path
        .split('/')
        .filter(|segment| !segment.is_empty())
        .collect();
    if segments.first() == Some(&OLD_PREFIX) {
        segments.remove(0);
    }
    if !keeps_suffix(&segments)
        && let Some(last) = segments.last_mut()
        && let Some(stem) = last.strip_suffix(".json").filter(|stem| !stem.is_empty())
    {
        *last = stem;
    }
    if is_joined(path, &segments) {
        return Cow::Borrowed(path);
    }
    if segments.is_empty() {
        return Cow::Borrowed("/");
    }
    Cow::Owned(
        segments
            .iter()
            .fold(String::with_capacity(path.len()), |mut joined, segment| {
                joined.push('/');
                joined.push_str(segment);
                joined
            }),
    )
}

/// Whether the path is these segments with a slash before each. As they were cut from it, the
/// lengths tell.
fn is_joined(path: &str, segments: &[&str]) -> bool {
    !segments.is_empty()
        && segments
            .iter()
            .map(|segment| segment.len() + 1)
            .sum::<usize>()
            == path.len()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_plain_path_is_left_alone() {
        for path in [
            "/flows",
            "/flows/acme/main/messages/12",
            "/messages/v1",
            "/flows/a.json/b",
            "*",
            "",
            "/a%2",
            "/%zz%2F",
        ] {
            assert!(
                matches!(normalize(path), Cow::Borrowed(same) if same == path),
                "{path}"
            );
        }
    }

    #[test]
    fn old_forms_mean_the_same_path() {
        for path in [
            "/v1/flows",
            "/flows/",
            "//flows",
            "/v1//flows///",
            "/flows.json",
            "/v1/flows.json/",
        ] {
            assert_eq!(normalize(path), "/flows", "{path}");
        }
        assert_eq!(normalize("/v1/flows/acme//main.json"), "/flows/acme/main");
        assert_eq!(normalize("/v1/v1"), "/v1");
        assert_eq!(normalize("/v10/flows"), "/v10/flows");
        assert_eq!(normalize("/flows/.json"), "/flows/.json");
        assert_eq!(normalize("/flows/a%2/"), "/flows/a%2");
    }

    #[test]
    fn the_root_stays_the_root() {
        for path in ["/", "//", "/v1", "/v1/"] {
            assert_eq!(normalize(path), "/", "{path}");
        }
    }

    #[test]
    fn a_suffix_that_is_part_of_a_name_stays() {
        assert_eq!(normalize("/files/ab/data.json"), "/files/ab/data.json");
        assert_eq!(normalize("/v1//avatars/ab.json/"), "/avatars/ab.json");
        assert_eq!(normalize("/openapi.json"), "/openapi.json");
        assert_eq!(normalize("/v1/openapi.json"), "/openapi.json");
        assert_eq!(normalize("/asyncapi.json"), "/asyncapi.json");
        assert_eq!(normalize("/flows/openapi.json"), "/flows/openapi");
    }

    proptest! {
        #[test]
        fn any_path_comes_out_in_one_form(path in "(/|v1|flows|files|a|\\.json|%2|ä){0,8}") {
            let normal = normalize(&path).into_owned();
            prop_assert!(!path.starts_with('/') || normal.starts_with('/'));
            prop_assert!(!path.starts_with('/') || !normal.contains("//"));
            prop_assert!(normal == "/" || !path.starts_with('/') || !normal.ends_with('/'));
        }
    }
}
