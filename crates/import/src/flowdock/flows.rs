//! The list of flows that may stand beside their messages.

use std::collections::HashMap;

use super::records::FlowdockFlow;

/// Flows, by their ids and their names in URLs.
#[derive(Default)]
pub(super) struct Flows {
    flows: Vec<FlowdockFlow>,
    by_id: HashMap<String, usize>,
    /// `None` for a name of several: organizations may have flows of the same name.
    by_name: HashMap<String, Option<usize>>,
}

impl Flows {
    pub(super) fn add(&mut self, flow: FlowdockFlow) {
        let place = self.flows.len();
        self.by_id.entry(flow.id.clone()).or_insert(place);
        self.by_name
            .entry(flow.parameterized_name.clone())
            .and_modify(|place| *place = None)
            .or_insert(Some(place));
        self.flows.push(flow);
    }

    /// The flow of this id, or else the only one that is named as the end of the id or the folder.
    pub(super) fn find(&self, folder: &str, id: Option<&str>) -> Option<&FlowdockFlow> {
        let by_id = id.and_then(|id| self.by_id.get(id)).copied();
        let place = by_id.or_else(|| {
            let short = id.and_then(|id| id.rsplit([':', '/']).next());
            let of_folder = self.by_name.get(folder).copied();
            let of_id = short.and_then(|short| self.by_name.get(short)).copied();
            match (of_id, of_folder) {
                (Some(one), Some(other)) => one.filter(|_| one == other),
                (one, other) => one.or(other).flatten(),
            }
        });
        self.flows.get(place?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flow_is_found_by_its_id_or_else_by_the_only_one_of_its_name() {
        let mut flows = Flows::default();
        for (id, name) in [
            ("acme:main", "main"),
            ("2", "board"),
            ("3", "twice"),
            ("4", "twice"),
        ] {
            let flow = serde_json::json!({"id": id, "name": "", "parameterized_name": name});
            flows.add(serde_json::from_value(flow).unwrap());
        }
        for (folder, id, expected) in [
            ("x", Some("acme:main"), Some("acme:main")),
            ("board", Some("acme:main"), Some("acme:main")),
            ("board", None, Some("2")),
            ("board", Some("other:board"), Some("2")),
            ("x", Some("other:board"), Some("2")),
            ("board", Some("other:x"), Some("2")),
            ("main", Some("other:board"), None),
            ("twice", None, None),
            ("main", Some("other:twice"), None),
            ("x", None, None),
        ] {
            let flow = flows.find(folder, id).map(|flow| flow.id.as_str());
            assert_eq!(flow, expected, "{folder} {id:?}");
        }
    }
}
