//! The manifests for Kubernetes.

use std::collections::HashMap;

use eddyline_client::Json;
use serde_json::json;

use super::compose::documents;
use super::{are_known, is_pinned};

const FOLDER: &str = "deploy/kubernetes";

fn document(name: &str) -> Option<Json> {
    let mut read = documents(&format!("{FOLDER}/{name}"))?;
    assert_eq!(read.len(), 1, "{name}");
    Some(read.remove(0))
}

/// All manifests that the kustomization names, by kind.
fn manifests() -> Option<HashMap<String, Json>> {
    let kustomization = document("kustomization.yaml")?;
    let names = kustomization["resources"].as_array().unwrap().iter();
    let read = names.map(|name| document(name.as_str().unwrap()).unwrap());
    let by_kind = read.map(|manifest| (manifest["kind"].as_str().unwrap().to_owned(), manifest));
    Some(by_kind.collect())
}

#[test]
fn every_file_is_named_by_the_kustomization() {
    let Some(manifests) = manifests() else { return };
    let files = std::fs::read_dir(super::file(FOLDER)).unwrap().count();
    assert_eq!(files, manifests.len() + 1);
    for (kind, manifest) in &manifests {
        assert!(manifest["apiVersion"].is_string(), "{kind}");
        assert_eq!(manifest["metadata"]["name"], "eddyline", "{kind}");
    }
}

#[test]
fn pods_are_restricted() {
    let Some(manifests) = manifests() else { return };
    let pod = &manifests["Deployment"]["spec"]["template"]["spec"];
    let context = &pod["securityContext"];
    assert_eq!(context["runAsNonRoot"], true);
    assert!(context["runAsUser"].as_u64().is_some_and(|user| user > 0));
    assert_eq!(context["seccompProfile"]["type"], "RuntimeDefault");
    assert_eq!(pod["automountServiceAccountToken"], false);
    let container = &pod["containers"][0]["securityContext"];
    assert_eq!(container["allowPrivilegeEscalation"], false);
    assert_eq!(container["readOnlyRootFilesystem"], true);
    assert_eq!(container["capabilities"], json!({"drop": ["ALL"]}));
    let labels = &manifests["Namespace"]["metadata"]["labels"];
    assert_eq!(labels["pod-security.kubernetes.io/enforce"], "restricted");
}

#[test]
fn two_servers_are_replaced_one_after_the_other() {
    let Some(manifests) = manifests() else { return };
    let spec = &manifests["Deployment"]["spec"];
    assert_eq!(spec["replicas"], 2);
    assert_eq!(
        spec["strategy"],
        json!({"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}})
    );
    let pod = &spec["template"]["spec"];
    let sleep = &pod["containers"][0]["lifecycle"]["preStop"]["sleep"]["seconds"];
    let grace = &pod["terminationGracePeriodSeconds"];
    let (sleep, grace) = (sleep.as_u64().unwrap(), grace.as_u64().unwrap());
    // Of the defaults: requests that end, and then other work.
    assert!(grace > sleep + 8 + 25, "{grace}");
    assert_eq!(manifests["PodDisruptionBudget"]["spec"]["minAvailable"], 1);
    let kustomization = document("kustomization.yaml").unwrap();
    let image = &kustomization["images"][0];
    assert_eq!(
        image["name"],
        spec["template"]["spec"]["containers"][0]["image"]
    );
    let of = |key: &str| image[key].as_str().unwrap();
    assert!(is_pinned(&format!("{}:{}", of("newName"), of("newTag"))));
}

#[test]
fn probes_ask_for_what_they_are_about() {
    let Some(manifests) = manifests() else { return };
    let container = &manifests["Deployment"]["spec"]["template"]["spec"]["containers"][0];
    for (probe, path) in [
        ("startupProbe", "/readyz"),
        ("readinessProbe", "/readyz"),
        ("livenessProbe", "/healthz"),
    ] {
        assert_eq!(container[probe]["httpGet"]["path"], path, "{probe}");
    }
}

#[test]
fn ports_have_the_names_that_others_use() {
    let Some(manifests) = manifests() else { return };
    let container = &manifests["Deployment"]["spec"]["template"]["spec"]["containers"][0];
    let port = &container["ports"][0]["name"];
    let service = &manifests["Service"]["spec"]["ports"][0];
    assert_eq!(service["targetPort"], *port);
    assert_eq!(
        manifests["NetworkPolicy"]["spec"]["ingress"][0]["ports"][0]["port"],
        *port
    );
    // Prometheus reads the pods; the service, which the ingress knows, does not have their metrics.
    let metrics = &container["ports"][1];
    assert_eq!(
        manifests["NetworkPolicy"]["spec"]["ingress"][1]["ports"],
        json!([{"port": metrics["name"]}])
    );
    let mut variables = container["env"].as_array().unwrap().iter();
    let listen = variables.find(|variable| variable["name"] == "EDDYLINE_METRICS_LISTEN");
    assert_eq!(
        listen.unwrap()["value"],
        format!("0.0.0.0:{}", metrics["containerPort"])
    );
    assert_eq!(
        manifests["Service"]["spec"]["ports"]
            .as_array()
            .map(Vec::len),
        Some(1)
    );
    let path = &manifests["Ingress"]["spec"]["rules"][0]["http"]["paths"][0];
    assert_eq!(path["backend"]["service"]["port"]["name"], service["name"]);
}

/// A budget without a selector would hold for no pod.
#[test]
fn selectors_find_the_pods() {
    let Some(manifests) = manifests() else { return };
    let labels = &manifests["Deployment"]["spec"]["template"]["metadata"]["labels"];
    assert!(labels.is_object());
    assert_eq!(manifests["Service"]["spec"]["selector"], *labels);
    for (kind, selector) in [
        ("Deployment", "selector"),
        ("PodDisruptionBudget", "selector"),
        ("NetworkPolicy", "podSelector"),
    ] {
        let selector = &manifests[kind]["spec"][selector];
        assert_eq!(selector["matchLabels"], *labels, "{kind}");
    }
}

#[test]
fn variables_are_options_and_secrets_are_references() {
    let Some(manifests) = manifests() else { return };
    let container = &manifests["Deployment"]["spec"]["template"]["spec"]["containers"][0];
    let mut names: Vec<&str> = Vec::new();
    for variable in container["env"].as_array().unwrap() {
        let name = variable["name"].as_str().unwrap();
        names.push(name);
        let is_place = name.ends_with("_DIR") || name.ends_with("LISTEN");
        let reference = &variable["valueFrom"]["secretKeyRef"];
        assert_eq!(reference["name"].is_string(), !is_place, "{name}");
    }
    let configuration = manifests["ConfigMap"]["data"].as_object().unwrap();
    names.extend(configuration.keys().map(String::as_str));
    for secret in [
        "EDDYLINE_DATABASE",
        "EDDYLINE_SECRET_KEY",
        "EDDYLINE_SMTP_PASSWORD",
    ] {
        assert!(
            names.contains(&secret) && !configuration.contains_key(secret),
            "{secret}"
        );
    }
    are_known(names, FOLDER);
}
