//! The instructions for the image: what a linter would find without a network.

use std::collections::BTreeSet;

use super::{are_known, file, is_pinned, text};

const CONTAINERFILE: &str = "deploy/container/Containerfile";

/// An instruction and its arguments.
#[derive(Debug)]
struct Instruction {
    name: String,
    words: Vec<String>,
}

fn instructions() -> Vec<Instruction> {
    let text = text(CONTAINERFILE);
    let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
    let joined = lines.join("\n").replace("\\\n", " ");
    let lines = joined.lines().filter(|line| !line.trim().is_empty());
    let read = lines.map(|line| {
        let words = shlex::split(line).unwrap_or_else(|| panic!("{line}"));
        Instruction {
            name: words[0].clone(),
            words: words[1..].to_vec(),
        }
    });
    read.collect()
}

/// The instructions of each stage, which begins with its `FROM`; before the first one are arguments.
fn stages() -> (Vec<Instruction>, Vec<Vec<Instruction>>) {
    let (mut arguments, mut stages) = (Vec::new(), Vec::<Vec<Instruction>>::new());
    for instruction in instructions() {
        match (instruction.name.as_str(), stages.last_mut()) {
            ("FROM", _) => stages.push(vec![instruction]),
            (_, Some(stage)) => stage.push(instruction),
            (_, None) => arguments.push(instruction),
        }
    }
    (arguments, stages)
}

/// The arguments of the last instruction of a name.
fn last<'a>(stage: &'a [Instruction], name: &str) -> Vec<&'a str> {
    let found = stage
        .iter()
        .rfind(|instruction| instruction.name == name)
        .unwrap_or_else(|| panic!("no {name} in {stage:?}"));
    found.words.iter().map(String::as_str).collect()
}

#[test]
fn instructions_are_known() {
    let known = [
        "ARG",
        "CMD",
        "COPY",
        "ENTRYPOINT",
        "ENV",
        "EXPOSE",
        "FROM",
        "HEALTHCHECK",
        "LABEL",
        "RUN",
        "STOPSIGNAL",
        "USER",
        "VOLUME",
        "WORKDIR",
    ];
    for instruction in instructions() {
        assert!(
            known.contains(&instruction.name.as_str()),
            "{instruction:?}"
        );
    }
}

#[test]
fn images_have_versions() {
    let (arguments, stages) = stages();
    assert_eq!(stages.len(), 2);
    for stage in stages {
        let from = &stage[0].words[0];
        let name = from.trim_start_matches("${").trim_end_matches('}');
        let image = arguments
            .iter()
            .find_map(|argument| argument.words[0].strip_prefix(name)?.strip_prefix('='));
        let image = image.unwrap_or(from);
        assert!(is_pinned(image), "{image}");
    }
}

#[test]
fn the_server_is_built_with_the_toolchain_that_the_crates_need() {
    let manifest = text("Cargo.toml");
    let (_, wanted) = manifest.split_once("rust-version = \"").unwrap();
    let wanted = wanted.split('"').next().unwrap();
    let image = format!("/rust:{wanted}");
    assert!(text(CONTAINERFILE).contains(&image), "{image}");
}

#[test]
fn the_last_stage_runs_the_server_without_rights_and_without_a_shell() {
    let (_, stages) = stages();
    let stage = stages.last().unwrap();
    let user = last(stage, "USER").concat();
    let (user, group) = user.split_once(':').unwrap();
    for number in [user, group] {
        assert!(number.parse::<u32>().is_ok_and(|id| id > 0), "{number}");
    }
    assert!(
        !stage.iter().any(|instruction| instruction.name == "RUN"),
        "there is no shell"
    );
    // As lists, since a string is run by a shell. Their quotes are gone here.
    for name in ["ENTRYPOINT", "CMD"] {
        assert!(last(stage, name)[0].starts_with('['), "{name}");
    }
    let check = last(stage, "HEALTHCHECK").join(" ");
    assert!(
        check.ends_with("CMD [/usr/bin/eddyline, healthcheck]"),
        "{check}"
    );
}

#[test]
fn what_is_copied_is_there() {
    let (_, stages) = stages();
    let built: String = stages[0]
        .iter()
        .map(|of| of.words.join(" ") + "\n")
        .collect();
    let copies = stages.iter().flatten().filter(|of| of.name == "COPY");
    for copy in copies {
        let (options, paths): (Vec<&String>, Vec<&String>) =
            copy.words.iter().partition(|word| word.starts_with("--"));
        let (_, sources) = paths.split_last().unwrap();
        let is_of_stage = options.iter().any(|option| *option == "--from=build");
        for source in sources {
            let is_there = match is_of_stage {
                true => built.contains(source.trim_end_matches('/')),
                false => file(source).exists(),
            };
            assert!(is_there, "{copy:?}");
        }
    }
}

#[test]
fn the_context_has_what_is_compiled_and_nothing_else() {
    let ignored = text(".dockerignore");
    let mut lines = ignored.lines().filter(|line| !line.starts_with('#'));
    assert_eq!(lines.next(), Some("*"));
    let kept: BTreeSet<&str> = lines.map(|line| line.strip_prefix('!').unwrap()).collect();
    for path in kept.iter().filter(|path| !path.ends_with('*')) {
        assert!(file(path).exists(), "{path}");
    }
    for needed in [
        "Cargo.toml",
        "Cargo.lock",
        "crates",
        "examples",
        "migrations",
        ".cargo",
    ] {
        assert!(kept.contains(needed), "{needed}");
    }
}

#[test]
fn variables_of_the_image_are_options() {
    let (_, stages) = stages();
    let settings = stages.iter().flatten().filter(|of| of.name == "ENV");
    let variables: Vec<&str> = settings
        .flat_map(|of| &of.words)
        .map(|pair| pair.split('=').next().unwrap())
        .collect();
    assert!(variables.contains(&"EDDYLINE_DATA_DIR"), "{variables:?}");
    are_known(variables, CONTAINERFILE);
}
