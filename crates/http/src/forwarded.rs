//! Who is behind a reverse proxy: `Forwarded` (RFC 7239) and `X-Forwarded-For`/`-Proto`.
//!
//! Anybody can send these headers. They count only as far as they were written by proxies that the
//! operator has named, which is from the right end up to the first address that is not one.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use eddyline_model::UserId;
use http::header::{FORWARDED, HeaderName};
use http::{Extensions, HeaderMap};
use ipnet::IpNet;
use serde::Serialize;

use crate::peer::Peer;
use crate::shared_addresses;

const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
const X_FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");

/// How many look-ups of a client, of which a request can have several, search the headers of a
/// proxy that is not trusted. Such a proxy shows in the first requests.
const MOST_LOOKED_AT: u32 = 10_000;
static LOOKED_AT: AtomicU32 = AtomicU32::new(0);

/// The client of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientInfo {
    /// The client's address, or that of the outermost proxy that could be trusted.
    pub addr: IpAddr,
    /// Whether the client used HTTPS; `None` when no trusted proxy says so.
    pub secure: Option<bool>,
}

/// What becomes of `Forwarded` and `X-Forwarded-For` in a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ForwardedState {
    /// The request has neither.
    None,
    /// They come from a proxy that the operator has named.
    Believed,
    /// They come from somebody else, and count for nothing.
    Ignored,
}

/// The proxies whose word is taken for where a request came from.
#[derive(Clone, Debug, Default)]
pub struct TrustedProxies(Vec<IpNet>);

impl TrustedProxies {
    /// Takes the word of proxies with these addresses.
    #[must_use]
    pub fn new(networks: Vec<IpNet>) -> Self {
        Self(networks)
    }

    /// Finds the client of a request by its headers and extensions, among them the
    /// [`Peer`] that a [`Server`](crate::serve::Server) adds.
    #[must_use]
    pub fn client(&self, headers: &HeaderMap, extensions: &Extensions) -> ClientInfo {
        let peer = extensions
            .get::<Peer>()
            .map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |peer| peer.addr.ip());
        self.resolve(peer, headers)
    }

    /// Finds the client of a request that arrived from `peer`. Nothing but a trusted peer makes the
    /// headers count.
    ///
    /// A proxy that writes one kind of header passes the other kind on as the client made it up.
    /// So when both are there and disagree, neither is believed.
    pub(crate) fn resolve(&self, peer: IpAddr, headers: &HeaderMap) -> ClientInfo {
        let peer = ClientInfo {
            addr: peer.to_canonical(),
            secure: None,
        };
        if !self.trusts(peer.addr) {
            warn_of_unnamed_proxy(peer.addr, headers);
            return peer;
        }
        let told_by = |name| headers.contains_key(name);
        let standard = || self.walk(peer, standard_hops(headers));
        let usual = || self.walk(peer, usual_hops(headers));
        match (told_by(FORWARDED), told_by(X_FORWARDED_FOR)) {
            (true, true) => agreed(standard(), usual()).unwrap_or(peer),
            (true, false) => standard(),
            (false, _) => usual(),
        }
    }

    /// Whether the peer of a request's connection is a trusted proxy.
    pub(crate) fn is_trusted_peer(&self, extensions: &Extensions) -> bool {
        let peer = extensions.get::<Peer>();
        peer.is_some_and(|peer| self.trusts(peer.addr.ip().to_canonical()))
    }

    /// What becomes of the headers of a proxy in a request.
    pub(crate) fn state(&self, headers: &HeaderMap, extensions: &Extensions) -> ForwardedState {
        let are_there = headers.contains_key(X_FORWARDED_FOR) || headers.contains_key(FORWARDED);
        match are_there {
            true if self.is_trusted_peer(extensions) => ForwardedState::Believed,
            true => ForwardedState::Ignored,
            false => ForwardedState::None,
        }
    }

    /// Notes that a user who has shown valid credentials comes from this client address. The log
    /// warns once when many come from one: it is mostly a proxy that hides theirs, so that they
    /// share the limits of an address.
    pub fn note_user(&self, client: IpAddr, user: UserId) {
        if !shared_addresses::is_newly_shared(client, user) {
            return;
        }
        if self.trusts(client) {
            tracing::warn!(
                address = %client,
                "many users come from one address and share its limits: the proxy, which --trusted-proxy names, does not \
                 send the addresses of its clients in Forwarded or X-Forwarded-For"
            );
        } else {
            tracing::warn!(
                address = %client,
                "many users come from one address and share its limits: if it is a reverse proxy, name it with \
                 --trusted-proxy, and have it send Forwarded or X-Forwarded-For"
            );
        }
    }

    pub(crate) fn trusts(&self, address: IpAddr) -> bool {
        self.0.iter().any(|network| network.contains(&address))
    }

    /// Goes outwards, from the hop next to us, for as long as a hop was told by a trusted proxy.
    fn walk(&self, peer: ClientInfo, hops: Vec<Hop>) -> ClientInfo {
        let mut client = peer;
        for hop in hops.into_iter().rev() {
            client.secure = hop.secure.or(client.secure);
            let Some(address) = hop.address else {
                break;
            };
            client.addr = address;
            if !self.trusts(address) {
                break;
            }
        }
        client
    }
}

/// Warns once of a proxy that the operator has not named.
fn warn_of_unnamed_proxy(peer: IpAddr, headers: &HeaderMap) {
    if LOOKED_AT.load(Relaxed) >= MOST_LOOKED_AT {
        return;
    }
    LOOKED_AT.fetch_add(1, Relaxed);
    let forwarded = headers.contains_key(X_FORWARDED_FOR) || headers.contains_key(FORWARDED);
    if forwarded && LOOKED_AT.swap(MOST_LOOKED_AT, Relaxed) < MOST_LOOKED_AT {
        tracing::warn!(
            address = %peer,
            "requests bear headers of a proxy that is not named with --trusted-proxy: all its clients count as one \
             network"
        );
    }
}

/// What two tellings have in common: the address must be the same, and the schemes no
/// contradiction.
fn agreed(one: ClientInfo, other: ClientInfo) -> Option<ClientInfo> {
    let secure = match (one.secure, other.secure) {
        (Some(one), Some(other)) if one != other => None,
        (one, other) => one.or(other),
    };
    (one.addr == other.addr).then_some(ClientInfo {
        addr: one.addr,
        secure,
    })
}

/// What one proxy says about who spoke to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Hop {
    /// `None` when the proxy does not know or does not tell.
    address: Option<IpAddr>,
    secure: Option<bool>,
}

fn secure_from(proto: &str) -> Option<bool> {
    if proto.eq_ignore_ascii_case("https") {
        Some(true)
    } else if proto.eq_ignore_ascii_case("http") {
        Some(false)
    } else {
        None
    }
}

/// An address with or without a port, IPv6 with or without brackets.
fn address_from(node: &str) -> Option<IpAddr> {
    let address = node.parse::<IpAddr>().ok();
    let address = address.or_else(|| node.parse::<SocketAddr>().ok().map(|socket| socket.ip()));
    let unbracketed = || node.strip_prefix('[')?.strip_suffix(']')?.parse().ok();
    let without_port = || {
        // RFC 7239 allows obfuscated ports: `192.0.2.1:_x`, `[2001:db8::1]:_x`.
        let (host, port) = node.rsplit_once(':')?;
        let host = host
            .strip_prefix('[')
            .map_or(Some(host), |inner| inner.strip_suffix(']'))?;
        port.starts_with('_').then(|| host.parse().ok())?
    };
    address
        .or_else(unbracketed)
        .or_else(without_port)
        .map(|address| address.to_canonical())
}

/// The hops of `X-Forwarded-For`, outermost first. Where `X-Forwarded-Proto` has as many values,
/// each belongs to its hop; otherwise the last one is the only one that the nearest proxy vouches
/// for.
fn usual_hops(headers: &HeaderMap) -> Vec<Hop> {
    let addresses = list_of(headers, &X_FORWARDED_FOR);
    let protos = list_of(headers, &X_FORWARDED_PROTO);
    let mut hops: Vec<Hop> = addresses
        .iter()
        .map(|node| Hop {
            address: address_from(node),
            secure: None,
        })
        .collect();
    if protos.len() == hops.len() {
        for (hop, proto) in hops.iter_mut().zip(&protos) {
            hop.secure = secure_from(proto);
        }
    } else if let Some(proto) = protos.last() {
        if hops.is_empty() {
            hops.push(Hop::default());
        }
        if let Some(hop) = hops.last_mut() {
            hop.secure = secure_from(proto);
        }
    }
    hops
}

fn list_of<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Vec<&'a str> {
    // A value that is not ASCII tells nothing; it must still end the walk.
    let values = headers
        .get_all(name)
        .iter()
        .map(|value| value.to_str().unwrap_or("?"));
    values
        .flat_map(|value| value.split(','))
        .map(str::trim)
        .filter(|item| !item.is_empty())
        .collect()
}

/// The hops of `Forwarded`, outermost first. A field that breaks the grammar becomes one hop that
/// tells nothing: a client may have left a quote open to swallow what the proxy added.
fn standard_hops(headers: &HeaderMap) -> Vec<Hop> {
    let fields = headers.get_all(FORWARDED).iter();
    fields
        .flat_map(|field| {
            field
                .to_str()
                .ok()
                .and_then(parse_forwarded)
                .unwrap_or_else(|| vec![Hop::default()])
        })
        .collect()
}

/// RFC 7239, section 4: elements separated by commas, pairs by semicolons; a value is a token or a
/// quoted string. Addresses with colons are taken without quotes as well, as many proxies send
/// them.
fn parse_forwarded(field: &str) -> Option<Vec<Hop>> {
    let mut hops = Vec::new();
    let mut hop = Hop::default();
    let mut rest = field.trim();
    loop {
        rest = rest.trim_start();
        if !rest.starts_with([',', ';']) && !rest.is_empty() {
            let (name, after) = rest.split_once('=')?;
            let (value, after) = take_value(after)?;
            match name {
                name if name.eq_ignore_ascii_case("for") => hop.address = address_from(&value),
                name if name.eq_ignore_ascii_case("proto") => hop.secure = secure_from(&value),
                name if name.is_empty() || !name.bytes().all(is_token) => return None,
                _ => {}
            }
            rest = after.trim_start();
        }
        match rest.chars().next() {
            Some(';') => {}
            Some(',') => hops.push(std::mem::take(&mut hop)),
            Some(_) => return None,
            None => {
                hops.push(hop);
                return Some(hops);
            }
        }
        rest = &rest[1..];
    }
}

/// A token or a quoted string, and what comes after it.
fn take_value(text: &str) -> Option<(String, &str)> {
    let Some(quoted) = text.strip_prefix('"') else {
        let end = text
            .bytes()
            .position(|b| !(is_token(b) || b":[]".contains(&b)))
            .unwrap_or(text.len());
        return (end > 0).then(|| (text[..end].to_owned(), &text[end..]));
    };
    let mut value = String::new();
    let mut characters = quoted.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => return Some((value, &quoted[at + 1..])),
            '\\' => value.push(characters.next()?.1),
            other => value.push(other),
        }
    }
    None
}

/// RFC 9110, section 5.6.2.
fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;
    use proptest::prelude::*;

    use super::*;

    fn address(text: &str) -> IpAddr {
        text.parse().expect("an address")
    }

    fn proxies() -> TrustedProxies {
        let networks = ["10.0.0.0/8", "fd00::/8"];
        TrustedProxies(
            networks
                .iter()
                .map(|network| network.parse().expect("a network"))
                .collect(),
        )
    }

    /// What a request from the proxy 10.0.0.1 with these headers resolves to.
    fn client(headers: &[(HeaderName, &str)]) -> (String, Option<bool>) {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(name, HeaderValue::from_str(value).expect("a header value"));
        }
        let ClientInfo { addr, secure } = proxies().resolve(address("10.0.0.1"), &map);
        (addr.to_string(), secure)
    }

    fn found(addr: &str, secure: Option<bool>) -> (String, Option<bool>) {
        (addr.to_owned(), secure)
    }

    #[test]
    fn headers_of_a_peer_that_is_no_trusted_proxy_count_for_nothing() {
        let mut headers = HeaderMap::new();
        headers.insert(X_FORWARDED_FOR, HeaderValue::from_static("192.0.2.1"));
        headers.insert(X_FORWARDED_PROTO, HeaderValue::from_static("https"));
        let peer = address("198.51.100.7");
        assert_eq!(
            proxies().resolve(peer, &headers),
            ClientInfo {
                addr: peer,
                secure: None
            }
        );
        assert_eq!(
            TrustedProxies::default().resolve(peer, &headers),
            ClientInfo {
                addr: peer,
                secure: None
            }
        );
    }

    #[test]
    fn an_ipv4_proxy_is_known_on_an_ipv6_socket() {
        let mut headers = HeaderMap::new();
        headers.insert(X_FORWARDED_FOR, HeaderValue::from_static("192.0.2.1"));
        let client = proxies().resolve(address("::ffff:10.0.0.1"), &headers);
        assert_eq!(client.addr, address("192.0.2.1"));
        assert_eq!(
            proxies()
                .resolve(address("::ffff:10.0.0.1"), &HeaderMap::new())
                .addr,
            address("10.0.0.1")
        );
    }

    #[test]
    fn a_proxy_without_the_headers_is_the_client() {
        assert_eq!(client(&[]), found("10.0.0.1", None));
        assert_eq!(client(&[(X_FORWARDED_FOR, "")]), found("10.0.0.1", None));
        assert_eq!(
            client(&[(X_FORWARDED_PROTO, "https")]),
            found("10.0.0.1", Some(true))
        );
    }

    #[test]
    fn the_client_is_the_first_untrusted_address_from_the_right() {
        let spoofed = "203.0.113.9, 192.0.2.1, 10.0.0.2";
        assert_eq!(
            client(&[(X_FORWARDED_FOR, spoofed)]),
            found("192.0.2.1", None)
        );
        assert_eq!(
            client(&[(X_FORWARDED_FOR, "10.0.0.3, 10.0.0.2")]),
            found("10.0.0.3", None)
        );
        assert_eq!(
            client(&[
                (X_FORWARDED_FOR, "203.0.113.9"),
                (X_FORWARDED_FOR, "192.0.2.1")
            ]),
            found("192.0.2.1", None)
        );
        assert_eq!(
            client(&[(
                FORWARDED,
                "for=203.0.113.9, for=192.0.2.1;proto=https, for=10.0.0.2;proto=http"
            )]),
            found("192.0.2.1", Some(true))
        );
    }

    #[test]
    fn addresses_come_with_ports_and_brackets() {
        for (node, addr) in [
            ("192.0.2.1:4711", "192.0.2.1"),
            ("2001:db8::1", "2001:db8::1"),
            ("[2001:db8::1]", "2001:db8::1"),
            ("[2001:db8::1]:4711", "2001:db8::1"),
            ("::ffff:192.0.2.1", "192.0.2.1"),
        ] {
            assert_eq!(
                client(&[(X_FORWARDED_FOR, node)]),
                found(addr, None),
                "{node}"
            );
            assert_eq!(
                client(&[(FORWARDED, &format!("for=\"{node}\""))]),
                found(addr, None),
                "{node}"
            );
            assert_eq!(
                client(&[(FORWARDED, &format!("for={node}"))]),
                found(addr, None),
                "{node}"
            );
        }
        assert_eq!(
            client(&[(FORWARDED, "for=\"[2001:db8::1]:_port\"")]),
            found("2001:db8::1", None)
        );
        assert_eq!(
            client(&[(FORWARDED, "for=\"192.0.2.1:_port\"")]),
            found("192.0.2.1", None)
        );
    }

    #[test]
    fn names_are_in_any_case_and_other_parameters_are_passed_over() {
        assert_eq!(
            client(&[(FORWARDED, r#"By=10.0.0.1 ; FOR = x"#)]),
            found("10.0.0.1", None),
            "a blank before the equals sign breaks the grammar"
        );
        assert_eq!(
            client(&[(
                FORWARDED,
                r#"host="a,b;\"c\"";For="192.0.2.\1"; Proto=HTTPS;by=_x;"#
            )]),
            found("192.0.2.1", Some(true))
        );
    }

    #[test]
    fn a_hop_that_hides_or_makes_no_sense_ends_the_walk() {
        for node in ["unknown", "_hidden", "\"_x:80\"", "localhost", "300.1.1.1"] {
            let field = format!("for=203.0.113.9, for={node};proto=https");
            assert_eq!(
                client(&[(FORWARDED, &field)]),
                found("10.0.0.1", Some(true)),
                "{node}"
            );
        }
        assert_eq!(
            client(&[(X_FORWARDED_FOR, "203.0.113.9, unknown, 10.0.0.2")]),
            found("10.0.0.2", None)
        );
    }

    #[test]
    fn a_field_with_an_open_quote_tells_nothing() {
        assert_eq!(
            client(&[(FORWARDED, "for=\"192.0.2.1, for=203.0.113.9")]),
            found("10.0.0.1", None)
        );
        assert_eq!(
            client(&[
                (FORWARDED, "for=\"203.0.113.9"),
                (FORWARDED, "for=192.0.2.1")
            ]),
            found("192.0.2.1", None),
            "the proxy's own field is whole"
        );
    }

    #[test]
    fn a_scheme_belongs_to_its_hop() {
        let chain = (X_FORWARDED_FOR, "192.0.2.1, 10.0.0.2");
        assert_eq!(
            client(&[chain.clone(), (X_FORWARDED_PROTO, "https, http")]),
            found("192.0.2.1", Some(true))
        );
        assert_eq!(
            client(&[chain.clone(), (X_FORWARDED_PROTO, "https")]),
            found("192.0.2.1", Some(true))
        );
        assert_eq!(
            client(&[chain.clone(), (X_FORWARDED_PROTO, "x, y, http")]),
            found("192.0.2.1", Some(false))
        );
        assert_eq!(
            client(&[chain, (X_FORWARDED_PROTO, "gopher")]),
            found("192.0.2.1", None)
        );
    }

    #[test]
    fn headers_that_contradict_each_other_are_not_believed() {
        let usual = (X_FORWARDED_FOR, "192.0.2.1");
        assert_eq!(
            client(&[(FORWARDED, "for=203.0.113.9"), usual.clone()]),
            found("10.0.0.1", None)
        );
        let agreeing = [
            usual,
            (X_FORWARDED_PROTO, "https"),
            (FORWARDED, "for=192.0.2.1"),
        ];
        assert_eq!(client(&agreeing), found("192.0.2.1", Some(true)));
        let of_schemes = [
            agreeing[0].clone(),
            agreeing[1].clone(),
            (FORWARDED, "for=192.0.2.1;proto=http"),
        ];
        assert_eq!(client(&of_schemes), found("192.0.2.1", None));
    }

    proptest! {
        #[test]
        fn no_header_makes_it_panic(bytes: Vec<u8>, text in "(for|proto|=|\"|;|,| |\\\\|\\[|\\]|:|1|::|10\\.0\\.0\\.2){0,20}") {
            for value in [HeaderValue::from_bytes(&bytes), HeaderValue::from_str(&text)].into_iter().flatten() {
                let headers = HeaderMap::from_iter([(FORWARDED, value.clone())]);
                proxies().resolve(address("10.0.0.1"), &headers);
                let headers = HeaderMap::from_iter([(X_FORWARDED_FOR, value.clone()), (X_FORWARDED_PROTO, value)]);
                proxies().resolve(address("10.0.0.1"), &headers);
            }
        }
    }
}
