//! The results for programs.

use serde_json::{Value, json};

use super::results::{Line, Results};
use crate::machine::Machine;
use crate::plan::Plan;

/// Everything that was measured, and on what.
pub(super) fn of(machine: &Machine, plan: &Plan, quick: bool, results: &Results) -> Value {
    let lines: Vec<Value> = results
        .lines()
        .iter()
        .map(|line| measurement(line, results))
        .collect();
    json!({
        "program": concat!("eddyline-bench ", env!("CARGO_PKG_VERSION")),
        "machine": machine,
        "quick": quick,
        "plan": plan,
        "clean": results.is_clean(),
        "measurements": lines,
    })
}

fn measurement(line: &Line, results: &Results) -> Value {
    let metrics: Vec<Value> = line
        .series
        .iter()
        .map(|series| {
            let (name, unit) = series.metric.name_and_unit();
            let (median, least, most) = series.spread();
            json!({
                "name": name, "unit": unit,
                "median": median, "min": least, "max": most, "rounds": series.values,
            })
        })
        .collect();
    let ratios = results.ratios(line);
    let ratios: Vec<Value> = ratios
        .iter()
        .map(|ratio| {
            let (name, _) = ratio.metric.name_and_unit();
            json!({ "of": name, "against": ratio.against, "value": ratio.value })
        })
        .collect();
    json!({
        "part": line.key.part,
        "subject": line.key.subject,
        "setting": line.key.setting,
        "metrics": metrics,
        "ratios": ratios,
        "faults": line.faults,
        "generator_bound": line.generator_bound(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::results::Key;
    use crate::report::{Metric, Sample};

    #[test]
    fn the_rounds_stand_beside_their_median() {
        let mut results = Results::default();
        for rate in [2.0, 1.0, 4.0] {
            results.add(
                Key::new("posts", "ours", "1"),
                Sample::single(Metric::Posts, rate),
            );
        }
        let value = measurement(&results.lines()[0], &results);
        let metric = &value["metrics"][0];
        assert_eq!(metric["unit"], "posts/s");
        assert_eq!(metric["median"], 2.0);
        assert_eq!(metric["rounds"], json!([2.0, 1.0, 4.0]));
        assert_eq!(value["faults"]["missed"], 0);
    }
}
