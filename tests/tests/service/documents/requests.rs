//! The `curl` commands: the description of the API knows their methods, paths and parameters.

use eddyline_client::{Json, Method};
use eddyline_tests::{Backend, run};

use super::commands::commands;
use super::{blocks_in, place};

/// A request as `curl` would send it.
#[derive(Debug)]
struct Request {
    method: String,
    path: String,
    parameters: Vec<String>,
}

impl Request {
    fn read(words: &[String]) -> Self {
        let (mut method, mut data, mut url) = (None, Vec::new(), None);
        let mut words = words.iter().skip(1);
        while let Some(word) = words.next() {
            let mut value = || words.next().expect("an option has a value").clone();
            match word.as_str() {
                "-X" => method = Some(value()),
                "-d" | "--data-urlencode" => data.push(value()),
                "-u" | "-H" => drop(value()),
                "-N" | "-s" | "--fail-with-body" => {}
                option if option.starts_with('-') => {
                    panic!("no test knows the option {option} of curl")
                }
                address => url = Some(address.to_owned()),
            }
        }
        let usual = if data.is_empty() { "GET" } else { "POST" };
        let url = url.expect("curl is given an address");
        let url = url
            // The prefix of old clients means nothing.
            .replace("$BASE/v1/", "/")
            .replace("$BASE", "")
            .replace("$STREAM", "/stream")
            .replace("$FLOW_TOKEN", "token")
            .replace("$FLOW", "acme/main");
        let (path, query) = url.split_once('?').unwrap_or((&url, ""));
        let (objects, forms): (Vec<_>, Vec<_>) =
            data.iter().partition(|text| text.starts_with('{'));
        let members = objects.into_iter().flat_map(|text| {
            let object: Json = serde_json::from_str(text).expect("the body is JSON");
            object
                .as_object()
                .unwrap()
                .keys()
                .cloned()
                .collect::<Vec<_>>()
        });
        let pairs = query
            .split('&')
            .filter(|pair| !pair.is_empty())
            .chain(forms.into_iter().map(String::as_str));
        // In forms, members of objects have brackets.
        let names = pairs.map(|pair| pair.split(['=', '[']).next().unwrap_or_default().to_owned());
        Self {
            method: method.unwrap_or_else(|| usual.to_owned()).to_lowercase(),
            path: path.to_owned(),
            parameters: names.chain(members).collect(),
        }
    }

    /// The operation of the description that answers it.
    fn operation<'a>(&self, description: &'a Json) -> Option<&'a Json> {
        let paths = description["paths"].as_object().unwrap();
        let mut known = paths
            .iter()
            .filter(|(template, _)| is_of(&self.path, template));
        known.find_map(|(_, item)| item.get(&self.method))
    }
}

/// Whether a path is one of this template.
fn is_of(path: &str, template: &str) -> bool {
    let (path, template): (Vec<_>, Vec<_>) =
        (path.split('/').collect(), template.split('/').collect());
    path.len() == template.len()
        && path
            .iter()
            .zip(&template)
            .all(|(part, known)| part == known || known.starts_with('{'))
}

/// The text of an operation and of the schemas that it names.
fn with_schemas(operation: &Json, description: &Json) -> String {
    let mut text = operation.to_string();
    let schemas = description["components"]["schemas"].as_object().unwrap();
    for (name, schema) in schemas {
        if text.contains(&format!("#/components/schemas/{name}\"")) {
            text += &schema.to_string();
        }
    }
    text
}

#[test]
fn requests_of_the_documents_are_described() {
    run(Backend::Sqlite, &[], async |server| {
        let client = server.client().build().unwrap();
        let description: Json = client
            .request(Method::GET, "/openapi.json")
            .call()
            .await
            .unwrap();
        let mut checked = 0;
        for block in blocks_in(&["sh", "console"]) {
            for words in commands(&block).iter().filter(|words| words[0] == "curl") {
                let request = Request::read(words);
                let operation = request.operation(&description);
                let operation =
                    operation.unwrap_or_else(|| panic!("{}: no {request:?}", place(&block)));
                let text = with_schemas(operation, &description);
                for name in &request.parameters {
                    assert!(
                        text.contains(&format!("\"{name}\"")),
                        "{}: no {name} in {text}",
                        place(&block)
                    );
                }
                checked += 1;
            }
        }
        assert!(checked >= 4, "only {checked} requests were found");
    });
}
