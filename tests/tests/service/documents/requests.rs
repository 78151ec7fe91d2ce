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
                "-d" => data.push(value()),
                "-u" | "-H" => drop(value()),
                "-N" | "-s" => {}
                option if option.starts_with('-') => {
                    panic!("no test knows the option {option} of curl")
                }
                address => url = Some(address.to_owned()),
            }
        }
        let usual = if data.is_empty() { "GET" } else { "POST" };
        let url = url.expect("curl is given an address");
        let url = url
            .replace("$BASE", "")
            .replace("$STREAM", "/stream")
            .replace("$FLOW", "acme/main");
        let (path, query) = url.split_once('?').unwrap_or((&url, ""));
        let pairs = query
            .split('&')
            .filter(|pair| !pair.is_empty())
            .chain(data.iter().map(String::as_str));
        Self {
            method: method.unwrap_or_else(|| usual.to_owned()).to_lowercase(),
            path: path.to_owned(),
            parameters: pairs
                .map(|pair| pair.split('=').next().unwrap_or_default().to_owned())
                .collect(),
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
                let text = operation.to_string();
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
