use proptest::prelude::*;

use super::*;

fn application(redirect_uris: &[&str]) -> Application {
    Application {
        id: ApplicationId(1),
        client_id: "abc".into(),
        organization: OrganizationId(1),
        name: "Robot".into(),
        public: false,
        redirect_uris: redirect_uris
            .iter()
            .map(|uri| uri.parse().unwrap())
            .collect(),
        configuration_uri: Some("https://robot.example/configure?a=b".parse().unwrap()),
        setup_uri: Some(
            "https://robot.example/setup/{flow_id}?at={flow_url}"
                .parse()
                .unwrap(),
        ),
        icon_url: None,
        password_grant: true,
        out_of_band: true,
        creator: None,
        created_at: Timestamp(0),
    }
}

/// Shows: 5.5
#[test]
fn a_redirect_uri_is_compared_character_by_character() {
    let robot = application(&["https://robot.example/back", "https://robot.example/other"]);
    let found = |wanted| robot.redirect_uri(Some(wanted)).map(|uri| uri.to_string());
    assert_eq!(
        found("https://robot.example/back").as_deref(),
        Some("https://robot.example/back")
    );
    for other in [
        "https://robot.example/back/",
        "https://robot.example/back?x=1",
        "https://robot.example/Back",
        "https://robot.example:443/back",
        "https://ROBOT.example/back",
        "https://robot.example/%62ack",
        "http://robot.example/back",
        "",
    ] {
        assert_eq!(found(other), None, "{other}");
    }
}

#[test]
fn a_loopback_address_without_a_port_has_any() {
    let program = application(&["http://127.0.0.1/cb?x=1", "http://[::1]/cb"]);
    for (wanted, allowed) in [
        ("http://127.0.0.1:51234/cb?x=1", true),
        ("http://127.0.0.1/cb?x=1", true),
        ("http://[::1]:51234/cb", true),
        ("http://127.0.0.1:51234/cb", false),
        ("http://127.0.0.1:51234/CB?x=1", false),
        ("http://127.0.0.1:0/cb?x=1", false),
        ("http://127.0.0.1:65536/cb?x=1", false),
        ("http://127.0.0.1:+9/cb?x=1", false),
        ("http://127.0.0.1:1@evil.example/cb?x=1", false),
        ("http://127.0.0.1.evil.example/cb?x=1", false),
        ("http://127.0.0.2:9000/cb?x=1", false),
        ("http://localhost:9000/cb?x=1", false),
        ("https://127.0.0.1:9000/cb?x=1", false),
    ] {
        let uri = program.redirect_uri(Some(wanted));
        let expected = allowed.then_some(wanted);
        assert_eq!(uri.as_ref().map(RedirectUri::as_str), expected, "{wanted}");
    }
    let others = application(&["http://localhost/cb", "http://127.0.0.1:9000/cb"]);
    assert_eq!(others.redirect_uri(Some("http://localhost:1/cb")), None);
    assert_eq!(others.redirect_uri(Some("http://127.0.0.1:1/cb")), None);
}

#[test]
fn a_redirect_uri_may_be_left_out_when_there_is_only_one() {
    let one = application(&["https://robot.example/back"]);
    assert_eq!(
        one.redirect_uri(None),
        Some("https://robot.example/back".parse().unwrap())
    );
    assert_eq!(
        application(&["https://a.example/", "https://b.example/"]).redirect_uri(None),
        None
    );
    assert_eq!(application(&[]).redirect_uri(None), None);
}

#[test]
fn a_code_is_shown_only_by_applications_that_may() {
    let may = application(&[OUT_OF_BAND]);
    let may_not = Application {
        out_of_band: false,
        ..may.clone()
    };
    for wanted in [Some(OUT_OF_BAND), None] {
        assert!(
            may.redirect_uri(wanted)
                .is_some_and(|uri| uri.is_out_of_band())
        );
        assert_eq!(may_not.redirect_uri(wanted), None);
    }
    assert!(
        application(&["https://a.example/"])
            .redirect_uri(Some(OUT_OF_BAND))
            .is_some()
    );
}

#[test]
fn a_redirect_uri_leads_to_the_web_or_to_a_program() {
    for good in [
        "https://robot.example/back?a=b&c=%20",
        "http://127.0.0.1:4000/back",
        "http://[::1]:4000",
        "http://localhost:4000/back",
        "HTTPS://Robot.example/",
        "com.example.robot:/back",
        OUT_OF_BAND,
    ] {
        assert_eq!(
            good.parse::<RedirectUri>().map(|uri| uri.to_string()),
            Ok(good.to_owned())
        );
    }
    for (bad, why) in [
        ("", InvalidUri::NotAbsolute),
        ("/back", InvalidUri::NotAbsolute),
        ("robot.example", InvalidUri::NotAbsolute),
        ("https:robot.example", InvalidUri::NotAbsolute),
        ("https:///robot.example", InvalidUri::NotAbsolute),
        ("https://", InvalidUri::NotAbsolute),
        ("https://robot.example/a b", InvalidUri::NotAbsolute),
        (
            "https://robot.example\\@evil.example",
            InvalidUri::NotAbsolute,
        ),
        ("https://rob\u{f6}t.example/", InvalidUri::NotAbsolute),
        ("https://robot.example/#", InvalidUri::Fragment),
        ("https://robot.example/back#x", InvalidUri::Fragment),
        ("https://ann@robot.example/", InvalidUri::UserInfo),
        ("javascript:alert(1)", InvalidUri::Scheme),
        ("JavaScript:alert(1)", InvalidUri::Scheme),
        ("data:text/html,x", InvalidUri::Scheme),
        ("file:///etc/passwd", InvalidUri::Scheme),
        ("wss://robot.example/", InvalidUri::Scheme),
        ("ms-msdt:/id", InvalidUri::Scheme),
        ("robot://back", InvalidUri::Scheme),
        ("http://robot.example/back", InvalidUri::InTheClear),
        ("http://127.0.0.1.robot.example/", InvalidUri::InTheClear),
        ("http://localhost.robot.example/", InvalidUri::InTheClear),
        ("http://10.0.0.1/", InvalidUri::InTheClear),
    ] {
        assert_eq!(bad.parse::<RedirectUri>(), Err(why), "{bad:?}");
    }
    let long = format!("https://robot.example/{}", "x".repeat(MAX_ADDRESS));
    assert_eq!(long.parse::<RedirectUri>(), Err(InvalidUri::TooLong));
}

#[test]
fn a_page_is_on_the_web() {
    for good in [
        "https://robot.example/{flow_id}",
        "http://robot.example/?x={flow_url}#y",
    ] {
        assert_eq!(
            good.parse::<PageUri>().map(|uri| uri.to_string()),
            Ok(good.to_owned())
        );
    }
    for bad in ["robot://setup", "javascript:alert(1)", OUT_OF_BAND] {
        assert_eq!(bad.parse::<PageUri>(), Err(InvalidUri::NotAPage), "{bad:?}");
    }
    assert_eq!(
        "https://robot.example/{other}".parse::<PageUri>(),
        Err(InvalidUri::NotAbsolute)
    );
}

#[test]
fn a_policy_names_the_origin_or_the_scheme() {
    for (uri, source) in [
        ("https://robot.example/back", Some("https:")),
        ("https://robot;sandbox/back", Some("https:")),
        (
            "http://127.0.0.1:4000/back",
            Some("http://127.0.0.1:4000 https:"),
        ),
        ("com.example.robot:/back", Some("com.example.robot:")),
        ("http://[::1]:8080/back", Some("http:")),
        ("http://robot_1.localhost/back", Some("http:")),
        ("http://localhost./back", Some("http:")),
        (OUT_OF_BAND, None),
    ] {
        assert_eq!(
            uri.parse::<RedirectUri>()
                .unwrap()
                .policy_source()
                .as_deref(),
            source
        );
    }
}

#[test]
fn people_are_told_where_they_are_sent() {
    let site = |host: &str| Destination::Site(host.to_owned());
    for (uri, destination) in [
        (
            "https://Robot.example:443/back?x=evil.example",
            site("robot.example"),
        ),
        ("http://127.0.0.1:8080/", site("127.0.0.1:8080")),
        ("http://[::1]:8080/", site("[::1]:8080")),
        (
            "com.example.robot:/back",
            Destination::Program("com.example.robot".to_owned()),
        ),
        (OUT_OF_BAND, Destination::User),
    ] {
        assert_eq!(
            uri.parse::<RedirectUri>().unwrap().destination(),
            destination,
            "{uri}"
        );
    }
}

/// Shows: 4.40
#[test]
fn links_carry_the_flow() {
    let robot = application(&[]);
    assert_eq!(
        robot
            .setup_link("f-1", "https://chat.example/flows/a/b")
            .as_deref(),
        Some(
            "https://robot.example/setup/f-1?at=https%3A%2F%2Fchat.example%2Fflows%2Fa%2Fb\
             &flow=f-1&flow_url=https%3A%2F%2Fchat.example%2Fflows%2Fa%2Fb"
        )
    );
    assert_eq!(
        robot.configuration_link(7, "f-1").as_deref(),
        Some("https://robot.example/configure?a=b&integration_id=7&flow=f-1")
    );
    let without = Application {
        setup_uri: None,
        configuration_uri: None,
        ..robot
    };
    assert_eq!(
        (
            without.setup_link("f", "u"),
            without.configuration_link(1, "f")
        ),
        (None, None)
    );
}

#[test]
fn parameters_join_a_query_that_is_there() {
    for (uri, whole) in [
        ("https://a.example", "https://a.example?x=1%262"),
        ("https://a.example/?", "https://a.example/?x=1%262"),
        ("https://a.example/?y=2", "https://a.example/?y=2&x=1%262"),
        ("https://a.example/?y&", "https://a.example/?y&x=1%262"),
        ("https://a.example/#end", "https://a.example/?x=1%262#end"),
    ] {
        assert_eq!(with_query(uri, &[("x", "1&2")]), whole);
    }
}

proptest! {
    #[test]
    fn no_text_makes_the_parsers_panic(text: String) {
        let _ = text.parse::<RedirectUri>().map(|uri| uri.policy_source());
        let _ = text.parse::<PageUri>();
    }

    #[test]
    fn what_is_added_can_be_read_again(value: String) {
        let whole = with_query("https://a.example/?y=2", &[("state", &value)]);
        let url = Url::parse(&whole).unwrap();
        prop_assert_eq!(url.query_pairs().find(|(name, _)| name == "state").unwrap().1, value);
    }
}
