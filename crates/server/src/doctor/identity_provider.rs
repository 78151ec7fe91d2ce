//! What identity providers and applications need of the server: that its address is one they can
//! use, and that the proxy passes their paths on.

use eddyline_storage::EnabledProvider;
use http::StatusCode;
use serde::Deserialize;

use super::finding::Finding;
use super::web;

pub(super) async fn check(providers: &[EnabledProvider], base: &str) -> Vec<Finding> {
    let mut findings: Vec<Finding> = issuer(base).await.into_iter().collect();
    for provider in providers {
        findings.push(reach(provider, base).await);
        findings.extend(domains(provider));
    }
    findings
}

/// What applications read of the server (RFC 8414).
#[derive(Deserialize)]
struct DiscoveryDocument {
    issuer: String,
}

/// Whether the server calls itself by the address at which it is asked. Nothing where it does not
/// answer.
async fn issuer(base: &str) -> Option<Finding> {
    const CHECK: &str = "sign_in_discovery";
    let path = "/.well-known/oauth-authorization-server";
    let subject = format!("{base}{path}");
    let answer = web::get(&subject).await.ok()?;
    let (status, body) = web::read(answer).await.ok()?;
    let document = serde_json::from_str::<DiscoveryDocument>(&body);
    Some(match document {
        Ok(document) if document.issuer == base => {
            Finding::ok(CHECK, subject, "the issuer is base_url")
        }
        Ok(document) => Finding::error(
            CHECK,
            subject,
            format!("the issuer is {}, and not base_url", document.issuer),
            "Start the server again with this configuration: it has another base_url, and applications refuse an issuer \
             that is not where they ask.",
        ),
        Err(_) => Finding::error(
            CHECK,
            subject,
            format!("it is answered with {status}, and not by the server"),
            "Have the proxy pass /.well-known/oauth-authorization-server on to the server.",
        ),
    })
}

/// Whether a provider can send what it has to say. Without its token it is refused.
async fn reach(provider: &EnabledProvider, base: &str) -> Finding {
    const CHECK: &str = "identity_provider";
    let subject = format!("{}, organization {}", base, provider.organization);
    if !base.starts_with("https://") {
        return Finding::error(
            CHECK,
            subject,
            "identity providers send over https only, and base_url begins with http://",
            "Put a proxy with TLS in front of the server, and set base_url to its address.",
        );
    }
    let url = format!("{base}/scim/{}/ServiceProviderConfig", provider.uid);
    let status = match web::get(&url).await {
        Ok(answer) => answer.status(),
        Err(failure) => {
            return Finding::error(
                CHECK,
                subject,
                failure.to_string(),
                failure.advice("base_url"),
            );
        }
    };
    if status != StatusCode::UNAUTHORIZED {
        return Finding::error(
            CHECK,
            subject,
            format!("a request without a token is answered with {status}, not with 401"),
            "Have the proxy pass /scim on to the server, with the header Authorization.",
        );
    }
    match provider.used_at {
        Some(at) => Finding::ok(CHECK, subject, format!("the provider last came at {at}")),
        None => Finding::warning(
            CHECK,
            subject,
            "the provider has never come with its token",
            "Enter the address and the token at the provider, and have it test the connection.",
        ),
    }
}

fn domains(provider: &EnabledProvider) -> Option<Finding> {
    let org = &provider.organization;
    (provider.domains == 0).then(|| {
        Finding::warning(
            "identity_provider_domains",
            format!("organization {org}"),
            "the organization has no domain, so its provider proves no address",
            format!("Run eddyline admin org domain add --org {org} --domain DOMAIN."),
        )
    })
}
