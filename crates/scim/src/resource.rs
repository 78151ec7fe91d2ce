//! What the body of a POST or PUT says about a user.

use serde_json::{Map, Value};

use crate::names::join;
use crate::values::{boolean, find_given, object, primary_email, text};
use crate::{ScimError, State};

/// What a whole resource says about a user. What it does not say is `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestedUser {
    /// `userName`.
    pub user_name: Option<String>,
    /// `externalId`.
    pub external_id: Option<String>,
    /// The full name, never blank: `name.givenName` and `name.familyName` joined, or else
    /// `name.formatted`, or else `displayName`.
    pub name: Option<String>,
    /// The address of `emails` that is primary, or else of the first.
    pub email: Option<String>,
    /// `nickName`. When it is empty, the caller makes one from the name.
    pub nick: Option<String>,
    /// `active`.
    pub active: Option<bool>,
}

impl RequestedUser {
    /// Reads a resource.
    ///
    /// Names of attributes may have any case at every level, and attributes that are not kept are
    /// ignored. `null` is the same as nothing. A boolean may be a text (`"False"`). `emails` may be
    /// an array of objects with `value`, or of texts, or only one of these; the first counts,
    /// whichever is primary.
    ///
    /// # Errors
    ///
    /// [`InvalidValue`](crate::ScimType::InvalidValue) names the attribute whose value has a wrong
    /// type or contains NUL, [`InvalidSyntax`](crate::ScimType::InvalidSyntax) the one that is
    /// given twice in different case.
    pub fn read(body: &Map<String, Value>) -> Result<Self, ScimError> {
        let text_of = |name: &str| {
            find_given(body, name)?
                .map(|value| text(name, value))
                .transpose()
        };
        Ok(Self {
            user_name: text_of("userName")?,
            external_id: text_of("externalId")?,
            name: full_name(body)?,
            email: find_given(body, "emails")?
                .map(primary_email)
                .transpose()?
                .flatten(),
            nick: text_of("nickName")?,
            active: find_given(body, "active")?
                .map(|value| boolean("active", value))
                .transpose()?,
        })
    }

    /// The state after a PUT of this resource: what is not said stays.
    #[must_use]
    pub fn onto(self, state: State) -> State {
        State {
            user_name: self.user_name.unwrap_or(state.user_name),
            external_id: self.external_id.or(state.external_id),
            name: self.name.unwrap_or(state.name),
            email: self.email.unwrap_or(state.email),
            nick: self.nick.unwrap_or(state.nick),
            active: self.active.unwrap_or(state.active),
        }
    }
}

/// The first of the three ways to say a name that is used. All are read, so that a wrong type is
/// always told.
fn full_name(body: &Map<String, Value>) -> Result<Option<String>, ScimError> {
    let display = find_given(body, "displayName")?
        .map(|value| text("displayName", value))
        .transpose()?;
    let (mut joined, mut formatted) = (None, None);
    if let Some(name) = find_given(body, "name")? {
        let name = object("name", name)?;
        let part = |part: &str| {
            let value = find_given(name, part)?;
            value
                .map(|value| text(&format!("name.{part}"), value))
                .transpose()
        };
        let given = part("givenName")?.unwrap_or_default();
        let family = part("familyName")?.unwrap_or_default();
        joined = Some(join(&given, &family));
        formatted = part("formatted")?;
    }
    let ways = [joined, formatted, display].into_iter().flatten();
    Ok(ways
        .map(|name| name.trim().to_owned())
        .find(|name| !name.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ScimType;
    use serde_json::json;

    fn read(body: &Value) -> Result<RequestedUser, ScimError> {
        RequestedUser::read(body.as_object().unwrap())
    }

    fn name_of(body: &Value) -> Option<String> {
        read(body).unwrap().name
    }

    #[test]
    fn a_whole_resource_says_everything() {
        let wanted = read(&json!({
            "schemas": [crate::USER_SCHEMA, "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User"],
            "userName": "ada@example.org",
            "externalId": "00u1",
            "name": {"givenName": "Ada", "middleName": "X", "familyName": "King Lovelace"},
            "displayName": "A. L.",
            "emails": [{"primary": false, "value": "ada@example.org"}, {"primary": true, "value": "b@c"}],
            "nickName": "ada",
            "active": true,
            "groups": [],
            "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User": {"department": 7},
        }));
        let text = |text: &str| Some(text.to_owned());
        assert_eq!(
            wanted,
            Ok(RequestedUser {
                user_name: text("ada@example.org"),
                external_id: text("00u1"),
                name: text("Ada King Lovelace"),
                email: text("b@c"),
                nick: text("ada"),
                active: Some(true),
            })
        );
    }

    #[test]
    fn null_unknown_and_missing_are_the_same() {
        assert_eq!(read(&json!({})), Ok(RequestedUser::default()));
        let nothing = json!({
            "userName": null, "externalId": null, "name": null, "emails": null, "nickName": null,
            "active": null, "title": {"anything": 1}, "USERNAMES": 7,
        });
        assert_eq!(read(&nothing), Ok(RequestedUser::default()));
        let empty = json!({"name": {"givenName": null}, "emails": [], "displayName": " "});
        assert_eq!(read(&empty), Ok(RequestedUser::default()));
        assert_eq!(
            read(&json!({"emails": [null]})),
            Ok(RequestedUser::default())
        );
        assert_eq!(
            read(&json!({"emails": [{"type": "work"}]})),
            Ok(RequestedUser::default())
        );
    }

    #[test]
    fn names_of_attributes_have_any_case() {
        let wanted = read(&json!({
            "USERNAME": "a", "NAME": {"GIVENNAME": "Ada"}, "Emails": [{"VALUE": "a@b"}], "Active": "FALSE",
        }))
        .unwrap();
        assert_eq!(wanted.user_name.as_deref(), Some("a"));
        assert_eq!(wanted.name.as_deref(), Some("Ada"));
        assert_eq!(wanted.email.as_deref(), Some("a@b"));
        assert_eq!(wanted.active, Some(false));
    }

    #[test]
    fn parts_of_a_name_go_before_its_formatted_form_and_that_before_the_display_name() {
        let name = json!({"givenName": "Ada", "familyName": "L", "formatted": "Dr. Ada L"});
        assert_eq!(
            name_of(&json!({"displayName": "D", "name": name})).as_deref(),
            Some("Ada L")
        );
        let name = json!({"givenName": " ", "formatted": " Dr. Ada L "});
        assert_eq!(
            name_of(&json!({"displayName": "D", "name": name})).as_deref(),
            Some("Dr. Ada L")
        );
        assert_eq!(
            name_of(&json!({"displayName": "D", "name": {}})).as_deref(),
            Some("D")
        );
        assert_eq!(
            name_of(&json!({"name": {"familyName": "L"}})).as_deref(),
            Some("L")
        );
    }

    #[test]
    fn the_primary_email_counts_and_else_the_first_in_each_of_its_forms() {
        for emails in [
            json!([{"value": "c@d", "type": "home"}, {"value": "a@b", "primary": true}]),
            json!([{"value": "c@d", "primary": false}, {"value": "a@b", "Primary": "True"}]),
            json!([{"value": "a@b", "type": "home"}, {"value": "c@d"}]),
            json!(["a@b", 7]),
            json!({"value": "a@b"}),
            json!("a@b"),
        ] {
            let email = read(&json!({"emails": emails})).unwrap().email;
            assert_eq!(email.as_deref(), Some("a@b"), "{emails}");
        }
    }

    #[test]
    fn booleans_may_be_texts() {
        for (value, active) in [
            (json!(true), true),
            (json!(false), false),
            (json!("True"), true),
            (json!("False"), false),
            (json!("fALSE"), false),
        ] {
            assert_eq!(
                read(&json!({"active": value})).unwrap().active,
                Some(active),
                "{value}"
            );
        }
    }

    #[test]
    fn a_wrong_type_names_its_attribute() {
        for (body, field) in [
            (json!({"userName": 7}), "userName"),
            (json!({"userName": ["a"]}), "userName"),
            (json!({"externalId": 7}), "externalId"),
            (json!({"displayName": false}), "displayName"),
            (json!({"nickName": {}}), "nickName"),
            (json!({"active": "yes"}), "active"),
            (json!({"active": 1}), "active"),
            (json!({"name": "Ada"}), "name"),
            (json!({"name": {"givenName": 1}}), "name.givenName"),
            (json!({"name": {"familyName": []}}), "name.familyName"),
            (
                json!({"name": {"givenName": "Ada", "formatted": 1}}),
                "name.formatted",
            ),
            (json!({"emails": 7}), "emails"),
            (json!({"emails": [[]]}), "emails"),
            (json!({"emails": [{"value": 7}]}), "emails.value"),
            (json!({"userName": "a\0b"}), "userName"),
        ] {
            let error = read(&body).unwrap_err();
            assert_eq!(error.scim_type, ScimType::InvalidValue, "{body}");
            assert_eq!(error.field.as_deref(), Some(field), "{body}");
        }
    }

    #[test]
    fn an_attribute_given_twice_is_refused() {
        for (body, field) in [
            (json!({"userName": "a", "username": "a"}), "userName"),
            (
                json!({"name": {"givenName": "a", "GivenName": null}}),
                "givenName",
            ),
        ] {
            let error = read(&body).unwrap_err();
            assert_eq!(error.scim_type, ScimType::InvalidSyntax, "{body}");
            assert_eq!(error.field.as_deref(), Some(field));
        }
    }

    #[test]
    fn what_a_put_does_not_say_stays() {
        let state = State {
            user_name: "ada".into(),
            external_id: Some("x".into()),
            name: "Ada L".into(),
            email: "a@b".into(),
            nick: "ada".into(),
            active: false,
        };
        assert_eq!(RequestedUser::default().onto(state.clone()), state);
        let wanted =
            read(&json!({"name": {"givenName": "Eve"}, "nickName": "", "active": true})).unwrap();
        let expected = State {
            name: "Eve".into(),
            nick: String::new(),
            active: true,
            ..state.clone()
        };
        assert_eq!(wanted.onto(state), expected);
    }
}
