//! Applications: programs by others that act for users by OAuth (specification, section 5).

use std::fmt;
use std::str::FromStr;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use url::{Host, Position, Url};

use crate::{ApplicationId, OrganizationId, Timestamp, UserId};

/// The most redirect URIs of an application.
pub const MAX_REDIRECT_URIS: usize = 10;
/// The longest address of an application, in bytes.
pub const MAX_ADDRESS: usize = 2000;
/// What stands for a redirect URI when the code is shown to the user instead (specification,
/// section 5).
pub const OUT_OF_BAND: &str = "urn:ietf:wg:oauth:2.0:oob";

/// All but the unreserved characters of RFC 3986, section 2.3.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// An application that was registered by somebody of an organization.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Application {
    /// Its number.
    pub id: ApplicationId,
    /// What it calls itself by; no secret.
    pub client_id: String,
    /// The organization it belongs to.
    pub organization: OrganizationId,
    /// The name that users see.
    pub name: String,
    /// Whether it runs where it can keep no secret: on a telephone, or in a browser. It has none,
    /// and must use PKCE.
    pub public: bool,
    /// Where users may be sent back to. A request may name none when there is only one.
    pub redirect_uris: Vec<RedirectUri>,
    /// Where its integrations are configured.
    pub configuration_uri: Option<PageUri>,
    /// Where it is set up for a flow.
    pub setup_uri: Option<PageUri>,
    /// Its picture.
    pub icon_url: Option<PageUri>,
    /// Whether it may ask for tokens with users' passwords.
    pub password_grant: bool,
    /// Whether codes may be shown to users, for them to copy.
    pub out_of_band: bool,
    /// Who registered it, unless an operator did.
    pub creator: Option<UserId>,
    /// When it was registered.
    pub created_at: Timestamp,
}

impl Application {
    /// The redirect URI that a request means. It must be one of the application's, character by
    /// character; a loopback address that was registered without a port has any, since a program on
    /// the user's machine learns its port only when it starts (RFC 8252, section 7.3). When it is
    /// left out there must be only one to choose from (RFC 6749, section 3.1.2.3).
    #[must_use]
    pub fn redirect_uri(&self, wanted: Option<&str>) -> Option<RedirectUri> {
        match wanted {
            Some(OUT_OF_BAND) => self
                .out_of_band
                .then(|| RedirectUri(OUT_OF_BAND.to_owned())),
            Some(text) => self
                .redirect_uris
                .iter()
                .any(|registered| registered.allows(text))
                .then(|| RedirectUri(text.to_owned())),
            None => match self.redirect_uris.as_slice() {
                [only] if !only.is_out_of_band() || self.out_of_band => Some(only.clone()),
                _ => None,
            },
        }
    }

    /// Where one sets the application up for a flow: in its address `{flow_id}` and `{flow_url}`
    /// are filled in, and its query gets `flow` and `flow_url`.
    #[must_use]
    pub fn setup_link(&self, flow_id: &str, flow_url: &str) -> Option<String> {
        let uri = self.setup_uri.as_ref()?.filled(flow_id, flow_url);
        Some(with_query(
            &uri,
            &[("flow", flow_id), ("flow_url", flow_url)],
        ))
    }

    /// Where one configures what the application does in a flow; `integration` is the number of its
    /// source there.
    #[must_use]
    pub fn configuration_link(&self, integration: i64, flow_id: &str) -> Option<String> {
        let uri = self.configuration_uri.as_ref()?;
        Some(with_query(
            uri.as_str(),
            &[
                ("integration_id", &integration.to_string()),
                ("flow", flow_id),
            ],
        ))
    }
}

/// A URI with parameters added to its query, which is left as it is otherwise.
#[must_use]
pub fn with_query(uri: &str, parameters: &[(&str, &str)]) -> String {
    let (start, fragment) = uri.find('#').map_or((uri, ""), |at| uri.split_at(at));
    let added: usize = parameters
        .iter()
        .map(|(name, value)| name.len() + value.len() + 2)
        .sum();
    let mut all = String::with_capacity(uri.len() + added);
    all.push_str(start);
    for (name, value) in parameters {
        let between = match (all.contains('?'), all.ends_with(['?', '&'])) {
            (false, _) => "?",
            (true, true) => "",
            (true, false) => "&",
        };
        all.push_str(between);
        all.extend(utf8_percent_encode(name, ESCAPED));
        all.push('=');
        all.extend(utf8_percent_encode(value, ESCAPED));
    }
    all.push_str(fragment);
    all
}

/// The host of a loopback address by number, its port, and what follows. `localhost` is none: it
/// may lead elsewhere (RFC 8252, section 8.3).
fn split_loopback(address: &str) -> Option<(&str, &str, &str)> {
    let hosts = ["http://127.0.0.1", "http://[::1]"];
    let host = hosts.into_iter().find(|host| address.starts_with(host))?;
    let after = &address[host.len()..];
    let (port, rest) = after.split_at(after.find(['/', '?']).unwrap_or(after.len()));
    let is_port = |digits: &str| {
        digits.bytes().all(|byte| byte.is_ascii_digit())
            && digits.parse::<u16>().is_ok_and(|port| port > 0)
    };
    let is_host_alone = port.is_empty() || port.strip_prefix(':').is_some_and(is_port);
    is_host_alone.then_some((host, port, rest))
}

/// Why an address cannot be an application's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidUri {
    /// Longer than [`MAX_ADDRESS`] bytes.
    #[error("is too long (maximum is {MAX_ADDRESS} characters)")]
    TooLong,
    /// Not an absolute URI, written in ASCII.
    #[error("must be an absolute URI")]
    NotAbsolute,
    /// It has a fragment (RFC 6749, section 3.1.2).
    #[error("must not have a fragment")]
    Fragment,
    /// It has a name or a password in it.
    #[error("must not have a user name or password")]
    UserInfo,
    /// Its scheme is not one that a program has to itself.
    #[error(
        "must begin with https://, or with a scheme with a dot in it, such as com.example.app:"
    )]
    Scheme,
    /// It would send codes in the clear through the network (RFC 9700, section 2.6).
    #[error("must begin with https://, unless it leads to the user's own machine")]
    InTheClear,
    /// It is no page on the web.
    #[error("must begin with http:// or https://")]
    NotAPage,
}

/// Where an answer goes, in terms that people know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Destination {
    /// A site, by its host, with the port where that is not the usual one.
    Site(String),
    /// A program on the user's own machine, by its scheme.
    Program(String),
    /// The user, who copies it.
    User,
}

/// Where a user is sent back to with a code: an address on the web, the scheme of a program on the
/// user's own machine, or [`OUT_OF_BAND`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RedirectUri(String);

impl RedirectUri {
    /// The text as it was registered.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether an address that a request names is this one, or this one at a port, where it is a
    /// loopback address without one.
    fn allows(&self, address: &str) -> bool {
        let is_at_a_port = || {
            let (host, port, rest) = split_loopback(&self.0)?;
            let (wanted_host, _, wanted_rest) = split_loopback(address)?;
            Some(port.is_empty() && (host, rest) == (wanted_host, wanted_rest))
        };
        self.0 == address || is_at_a_port() == Some(true)
    }

    /// Whether the code is shown to the user instead.
    #[must_use]
    pub fn is_out_of_band(&self) -> bool {
        self.0 == OUT_OF_BAND
    }

    /// What a content security policy calls the place where it leads: an origin, or a scheme where
    /// a policy can name no more. `None` when it leads nowhere.
    #[must_use]
    pub fn policy_source(&self) -> Option<String> {
        let url = Url::parse(&self.0)
            .ok()
            .filter(|_| !self.is_out_of_band())?;
        let host = url.host_str().filter(|_| is_web(&url));
        Some(match host {
            // Browsers hold the site there to the policy as well when they send the user on at
            // once, which they often do.
            Some(_) if url.scheme() == "https" => "https:".to_owned(),
            Some(host) if is_policy_host(host) => {
                format!("{} https:", url.origin().ascii_serialization())
            }
            _ => format!("{}:", url.scheme()),
        })
    }

    /// Where it leads, as people are told.
    #[must_use]
    pub fn destination(&self) -> Destination {
        match Url::parse(&self.0) {
            Ok(url) if is_web(&url) => {
                Destination::Site(url[Position::BeforeHost..Position::AfterPort].to_owned())
            }
            Ok(url) if !self.is_out_of_band() => Destination::Program(url.scheme().to_owned()),
            _ => Destination::User,
        }
    }
}

fn is_web(url: &Url) -> bool {
    matches!(url.scheme(), "http" | "https")
}

/// Whether a content security policy can name this host. It has no way to write an address of IPv6,
/// and a semicolon, which a host may have, would end the list.
fn is_policy_host(host: &str) -> bool {
    let well_formed = |label: &str| {
        label
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    host.split('.')
        .all(|label| !label.is_empty() && well_formed(label))
}

impl fmt::Display for RedirectUri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for RedirectUri {
    type Err = InvalidUri;

    fn from_str(text: &str) -> Result<Self, InvalidUri> {
        if text == OUT_OF_BAND {
            return Ok(Self(text.to_owned()));
        }
        let url = parse(text)?;
        if url.fragment().is_some() {
            return Err(InvalidUri::Fragment);
        }
        match url.scheme() {
            "https" => {}
            "http" if is_own_machine(&url) => {}
            "http" => return Err(InvalidUri::InTheClear),
            // A program's own scheme is its domain turned round (RFC 8252, section 7.1). Those
            // without a dot are the browser's, or start programs that everybody has.
            own if own.contains('.') => {}
            _ => return Err(InvalidUri::Scheme),
        }
        Ok(Self(text.to_owned()))
    }
}

/// An address on the web to which users are sent, or from which a picture is shown. That of the
/// set-up may have `{flow_id}` and `{flow_url}` in it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PageUri(String);

impl PageUri {
    /// The text as it was given.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    fn filled(&self, flow_id: &str, flow_url: &str) -> String {
        let escaped = |text| utf8_percent_encode(text, ESCAPED).to_string();
        self.0
            .replace("{flow_id}", &escaped(flow_id))
            .replace("{flow_url}", &escaped(flow_url))
    }
}

impl fmt::Display for PageUri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for PageUri {
    type Err = InvalidUri;

    fn from_str(text: &str) -> Result<Self, InvalidUri> {
        // Told first: a picture that is written as an address is too long as well.
        if text
            .get(..5)
            .is_some_and(|scheme| scheme.eq_ignore_ascii_case("data:"))
        {
            return Err(InvalidUri::NotAPage);
        }
        let page = Self(text.to_owned());
        let url = parse(&page.filled("x", "x"))?;
        if text.len() > MAX_ADDRESS {
            return Err(InvalidUri::TooLong);
        }
        if is_web(&url) {
            Ok(page)
        } else {
            Err(InvalidUri::NotAPage)
        }
    }
}

/// Whether an address never leaves the machine that asks for it.
fn is_own_machine(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => {
            matches!(name, "localhost" | "localhost.") || name.ends_with(".localhost")
        }
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

fn parse(text: &str) -> Result<Url, InvalidUri> {
    if text.len() > MAX_ADDRESS {
        return Err(InvalidUri::TooLong);
    }
    // Browsers leave tabs out and read a backslash as a slash, so that it would lead elsewhere than
    // it seems to.
    if !text
        .bytes()
        .all(|byte| byte.is_ascii_graphic() && !b"\\<>\"`^|{}".contains(&byte))
    {
        return Err(InvalidUri::NotAbsolute);
    }
    let url = Url::parse(text).map_err(|_| InvalidUri::NotAbsolute)?;
    // The parser forgives a slash too few or too many there.
    let rest = text[url.scheme().len()..].strip_prefix("://");
    if is_web(&url) && rest.is_none_or(|rest| rest.starts_with('/')) {
        return Err(InvalidUri::NotAbsolute);
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(InvalidUri::UserInfo);
    }
    Ok(url)
}

#[cfg(test)]
mod tests;
