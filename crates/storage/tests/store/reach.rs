//! How far a provider reaches: domains of organizations, suspended memberships, and where links to
//! a new password go.

use std::sync::Arc;

use eddyline_model::identities::Identity;
use eddyline_model::organizations::{OrganizationMembership, OrganizationRole};
use eddyline_model::policy::AddressDomain;
use eddyline_model::{Timestamp, UserId};
use eddyline_storage::Error;

use crate::home::{Home, on_every_database};
use crate::world::{World, member};

on_every_database!(
    a_domain_belongs_to_one_organization,
    a_domain_counts_for_stated_addresses_that_wait_to_be_proved,
    suspended_memberships_are_kept_with_their_roles,
    an_account_is_found_by_where_its_links_go,
);

async fn a_domain_belongs_to_one_organization(home: Arc<Home>) {
    let world = World::new(&home).await;
    let acme = world.organization;
    let made = world.store.write(move |tx| {
        tx.organizations()
            .insert_domain("b.example", acme, Timestamp(5))?;
        tx.organizations()
            .insert_domain("a.example", acme, Timestamp(6))?;
        tx.organizations()
            .insert("Other", "other", 10, Timestamp(1))
    });
    let (other, _) = made.await.expect("made");
    let again = world
        .store
        .write(move |tx| {
            tx.organizations()
                .insert_domain("a.example", other, Timestamp(7))
        })
        .await;
    assert!(matches!(again, Err(Error::Exists(_))), "{again:?}");
    assert_eq!(
        world
            .read(|reader| reader.organizations().find_by_domain("a.example"))
            .await,
        Some(acme)
    );
    assert_eq!(
        world
            .read(move |reader| reader.organizations().list_domains(acme))
            .await,
        ["a.example", "b.example"]
    );
    let remove = async |organization| {
        world
            .store
            .write(move |tx| tx.organizations().delete_domain("a.example", organization))
            .await
            .expect("answered")
            .0
    };
    assert!(!remove(other).await, "it is not the other organization's");
    assert!(remove(acme).await && !remove(acme).await);
    let domain_of = async |address: &'static str| {
        world
            .store
            .write(move |tx| tx.organizations().lock_address_domain(acme, address))
            .await
            .expect("answered")
            .0
    };
    assert_eq!(domain_of("ann@a.example").await, AddressDomain::Unclaimed);
    assert_eq!(domain_of("ann@b.example").await, AddressDomain::Own);
}

async fn a_domain_counts_for_stated_addresses_that_wait_to_be_proved(home: Arc<Home>) {
    let world = World::new(&home).await;
    let (acme, ann, bob, cid) = (world.organization, world.ann, world.bob, world.cid);
    let known = move |user, stated: Option<&str>| Identity {
        user,
        organization: acme,
        subject: format!("subject {user}"),
        external_id: None,
        version: 1,
        created_at: Timestamp(6),
        updated_at: Timestamp(6),
        stated_email: stated.map(str::to_owned),
        suspended_at: None,
        removed_at: None,
    };
    let made = world.store.write(move |tx| {
        tx.identities()
            .upsert_provider(acme, "acme-uid", b"one", None, Timestamp(5))?;
        tx.identities()
            .insert(&known(ann, Some("ann@example.org")))?;
        // Bob has entered the address himself, and Cid has had it changed by the provider.
        tx.identities().insert(&known(bob, None))?;
        tx.identities()
            .insert(&known(cid, Some("cid@example.org")))?;
        tx.passwords()
            .set_recovery_key(cid, Some("cid@home.example"))?;
        for user in [ann, bob, cid] {
            tx.emails().set_proved(user, false)?;
        }
        Ok(())
    });
    made.await.expect("made");
    let set = async |domain: &'static str, proved| {
        let set = world
            .store
            .write(move |tx| tx.emails().set_stated_proved(domain, &[acme], proved));
        set.await.expect("set").0
    };
    let proved = async |user: UserId| {
        world
            .read(move |reader| reader.users().find(user))
            .await
            .expect("a user")
            .email_proved
    };
    assert_eq!(
        set("le.org", true).await,
        0,
        "the end of a domain is not the domain"
    );
    assert_eq!(set("example.org", true).await, 1);
    assert_eq!(
        (proved(ann).await, proved(bob).await, proved(cid).await),
        (true, false, false)
    );
    assert_eq!(set("example.org", false).await, 1);
    assert!(!proved(ann).await);
    world
        .store
        .write(move |tx| tx.emails().delete_stated(ann))
        .await
        .expect("forgotten");
    assert_eq!(
        set("example.org", true).await,
        0,
        "what a mailed link proved does not depend on a domain"
    );
}

async fn suspended_memberships_are_kept_with_their_roles(home: Arc<Home>) {
    let world = World::new(&home).await;
    let (acme, ann, bob) = (world.organization, world.ann, world.bob);
    let kept = OrganizationMembership {
        role: OrganizationRole::Administrator,
        ..member(acme, ann)
    };
    world
        .store
        .write(move |tx| {
            tx.organization_members()
                .insert_suspended(kept, Timestamp(5))
        })
        .await
        .expect("kept");
    let twice = world
        .store
        .write(move |tx| {
            tx.organization_members()
                .insert_suspended(kept, Timestamp(5))
        })
        .await;
    assert!(matches!(twice, Err(Error::Exists(_))), "{twice:?}");
    assert_eq!(
        world
            .read(move |reader| reader.organization_members().list_suspended(ann))
            .await,
        [kept]
    );
    assert_eq!(
        world
            .read(move |reader| reader.organization_members().list_suspended(bob))
            .await,
        []
    );
    assert_eq!(
        world
            .read(move |reader| reader.organization_members().find_access_end(ann))
            .await,
        Some(Timestamp(5))
    );
    assert_eq!(
        world
            .read(move |reader| reader.organization_members().find_access_end(bob))
            .await,
        None
    );
    world
        .store
        .write(move |tx| tx.organization_members().delete_suspended(ann))
        .await
        .expect("forgotten");
    assert_eq!(
        world
            .read(move |reader| reader.organization_members().list_suspended(ann))
            .await,
        []
    );
}

async fn an_account_is_found_by_where_its_links_go(home: Arc<Home>) {
    let world = World::new(&home).await;
    let (ann, bob) = (world.ann, world.bob);
    let set = world.store.write(move |tx| {
        tx.passwords()
            .set_recovery_key(bob, Some("old@example.org"))?;
        tx.passwords()
            .set_recovery_key(ann, Some("old@example.org"))?;
        tx.passwords().set(ann, "$argon2id$")
    });
    set.await.expect("set");
    let found = world
        .read(|reader| reader.passwords().find_user_by_recovery("old@example.org"))
        .await;
    assert_eq!(
        found.map(|user| user.id),
        Some(ann),
        "the one who was made first"
    );
    assert_eq!(
        world
            .read(|reader| reader.passwords().find_user_by_recovery("ann@example.org"))
            .await,
        None
    );
    assert_eq!(
        world
            .read(move |reader| reader.passwords().find_recovery_key(bob))
            .await
            .as_deref(),
        Some("old@example.org")
    );
    world
        .store
        .write(move |tx| tx.passwords().set_recovery_key(bob, None))
        .await
        .expect("set");
    assert_eq!(
        world
            .read(move |reader| reader.passwords().find_recovery_key(bob))
            .await,
        None
    );
    assert!(
        world
            .read(move |reader| reader.passwords().contains(ann))
            .await
    );
    assert!(
        !world
            .read(move |reader| reader.passwords().contains(bob))
            .await
    );
    assert!(
        !world
            .read(|reader| reader.passwords().contains(UserId(999)))
            .await,
        "no such user"
    );
}
