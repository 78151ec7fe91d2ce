//! An order of a certificate (RFC 8555, section 7.4), and what must be shown for it (RFC 8737).

use std::time::Duration;

use instant_acme::{
    Account, AuthorizationStatus, ChallengeType, Identifier, NewAccount, NewOrder, Order,
    OrderStatus, RetryPolicy,
};
use rcgen::{CertificateParams, CustomExtension, DistinguishedName, KeyPair};
use rustls::crypto::ring::default_provider;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::sign::CertifiedKey;

use crate::AcmeConfig;
use crate::error::{AcmeError, Result};
use crate::folder::AcmeFolder;
use crate::resolver::AcmeResolver;

/// How often the authority is asked whether it is done: after 250 ms, then after twice as long each
/// time, for two minutes at most.
fn patience() -> RetryPolicy {
    RetryPolicy::new().timeout(Duration::from_secs(120))
}

/// Orders a certificate. Returns its key and chain in PEM form.
pub(crate) async fn order(
    config: &AcmeConfig,
    folder: &AcmeFolder,
    resolver: &AcmeResolver,
) -> Result<String> {
    let account = account(config, folder).await?;
    let domains = config.domains.iter().cloned();
    let identifiers: Vec<_> = domains.map(Identifier::Dns).collect();
    let mut order = account.new_order(&NewOrder::new(&identifiers)).await?;
    prove(&mut order, resolver).await?;
    let readiness = order.poll_ready(&patience()).await;
    if !matches!(readiness, Ok(OrderStatus::Ready)) {
        if let Some(refused) = refused_name(&mut order).await? {
            return Err(refused);
        }
        readiness?;
        return Err(AcmeError::Invalid);
    }
    let key = KeyPair::generate()?;
    let mut request = CertificateParams::new(config.domains.clone())?;
    request.distinguished_name = DistinguishedName::new();
    let request = request.serialize_request(&key)?;
    order.finalize_csr(request.der()).await?;
    let chain = order.poll_certificate(&patience()).await?;
    Ok(key.serialize_pem() + &chain)
}

/// The account that is kept, or a new one.
async fn account(config: &AcmeConfig, folder: &AcmeFolder) -> Result<Account> {
    let builder = match &config.authority {
        Some(path) => Account::builder_with_root(path)?,
        None => Account::builder()?,
    };
    if let Some(credentials) = folder.account()? {
        return Ok(builder.from_credentials(credentials).await?);
    }
    let contact = config.contact.as_ref();
    let contact = contact.map(|address| format!("mailto:{address}"));
    let contact: Vec<_> = contact.as_deref().into_iter().collect();
    let new = NewAccount {
        contact: &contact,
        terms_of_service_agreed: true,
        only_return_existing: false,
    };
    let created = builder.create(&new, config.directory.clone(), None);
    let (account, credentials) = created.await?;
    folder.keep_account(&credentials)?;
    tracing::info!(
        directory = config.directory,
        "an account at the certificate authority was made"
    );
    Ok(account)
}

/// Shows for each name what its check asks for, and has the authority check it.
async fn prove(order: &mut Order, resolver: &AcmeResolver) -> Result<()> {
    let mut authorizations = order.authorizations();
    while let Some(authorization) = authorizations.next().await {
        let mut authorization = authorization?;
        // Checked for an order before.
        if authorization.status == AuthorizationStatus::Valid {
            continue;
        }
        let domain = authorization.identifier().to_string();
        let mut challenge = authorization
            .challenge(ChallengeType::TlsAlpn01)
            .ok_or_else(|| AcmeError::NoChallenge(domain.clone()))?;
        let digest = challenge.key_authorization().digest();
        resolver.show_challenge(&domain, challenge_certificate(&domain, digest.as_ref())?);
        match challenge.set_ready().await {
            // An authority may have failed to check the name before it answers.
            Err(instant_acme::Error::Api(problem)) => {
                let problem = problem.to_string();
                return Err(AcmeError::Refused { domain, problem });
            }
            ready => ready?,
        }
    }
    Ok(())
}

/// A certificate that proves a name by the digest in it (RFC 8737, section 3).
fn challenge_certificate(domain: &str, digest: &[u8]) -> Result<CertifiedKey> {
    let key = KeyPair::generate()?;
    let mut params = CertificateParams::new([domain.to_owned()])?;
    params.custom_extensions = vec![CustomExtension::new_acme_identifier(digest)];
    let certificate = params.self_signed(&key)?;
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let chain = vec![certificate.der().clone()];
    // `CertifiedKey::from_der` refuses the extension, which is critical and not for clients.
    let key = default_provider().key_provider.load_private_key(key)?;
    Ok(CertifiedKey::new(chain, key))
}

/// The name that the authority could not check, if that is why there is no certificate.
async fn refused_name(order: &mut Order) -> Result<Option<AcmeError>> {
    let mut authorizations = order.authorizations();
    while let Some(authorization) = authorizations.next().await {
        let mut authorization = authorization?;
        let domain = authorization.identifier().to_string();
        let state = authorization.refresh().await?;
        let problem = state.challenges.iter().find_map(|of| of.error.as_ref());
        if let Some(problem) = problem {
            let problem = problem.to_string();
            return Ok(Some(AcmeError::Refused { domain, problem }));
        }
    }
    Ok(None)
}
