//! The table for people.

use super::results::{Line, Results};
use super::sample::Metric;

const HEADINGS: [&str; 11] = [
    "part",
    "subject",
    "at",
    "median",
    "least",
    "most",
    "unit",
    "p50 ms",
    "p99 ms",
    "CPU µs",
    "compared and noted",
];
/// The columns of words; the others are of numbers, which end at the same place.
const LEFT: [usize; 5] = [0, 1, 2, 6, 10];

/// The table, a line for each measurement.
pub(super) fn of(results: &Results) -> String {
    let mut rows = vec![HEADINGS.map(str::to_owned)];
    rows.extend(results.lines().iter().map(|line| row(line, results)));
    align(&rows)
}

fn row(line: &Line, results: &Results) -> [String; HEADINGS.len()] {
    let first = &line.series[0];
    let (median, least, most) = first.spread();
    let or_nothing = |metric| line.median(metric).map(number).unwrap_or_default();
    [
        line.key.part.to_owned(),
        line.key.subject.to_owned(),
        line.key.setting.clone(),
        number(median),
        number(least),
        number(most),
        first.metric.name_and_unit().1.to_owned(),
        or_nothing(Metric::P50),
        or_nothing(Metric::P99),
        or_nothing(Metric::ServerCpu),
        remarks(line, results),
    ]
}

fn remarks(line: &Line, results: &Results) -> String {
    let mut remarks = Vec::new();
    for ratio in results.ratios(line) {
        let what = match ratio.metric {
            Metric::ServerCpu => "CPU ",
            Metric::P99 => "p99 ",
            _ => "",
        };
        remarks.push(format!("{what}{:.2} × {}", ratio.value, ratio.against));
    }
    if line.generator_bound() {
        remarks.push("generator bound".to_owned());
    }
    let faults = line
        .faults
        .kinds()
        .into_iter()
        .filter(|(_, count)| *count > 0);
    remarks.extend(faults.map(|(name, count)| format!("{count} {name}!")));
    remarks.join(", ")
}

/// A number with three digits that count, or all before the point.
fn number(value: f64) -> String {
    let decimals = match value.abs() {
        size if size >= 99.95 => 0,
        size if size >= 9.995 => 1,
        size if size >= 0.9995 => 2,
        _ => 3,
    };
    let text = format!("{value:.decimals$}");
    let whole = text.find('.').unwrap_or(text.len());
    let mut grouped = String::with_capacity(text.len() + 3);
    for (at, digit) in text.char_indices() {
        let left = whole.saturating_sub(at);
        if at > 0 && left > 0 && left.is_multiple_of(3) && !grouped.ends_with('-') {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

fn align<const N: usize>(rows: &[[String; N]]) -> String {
    let widths: [usize; N] = std::array::from_fn(|column| {
        rows.iter()
            .map(|row| row[column].chars().count())
            .max()
            .unwrap_or(0)
    });
    let mut text = String::new();
    for row in rows {
        let cells = row
            .iter()
            .zip(widths)
            .enumerate()
            .map(|(column, (cell, width))| {
                if LEFT.contains(&column) {
                    format!("{cell:<width$}")
                } else {
                    format!("{cell:>width$}")
                }
            });
        let line = cells.collect::<Vec<_>>().join("  ");
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::results::Key;
    use crate::report::{Faults, Sample};

    #[test]
    fn numbers_have_three_digits_or_all_before_the_point() {
        let expected = [
            (0.01234, "0.012"),
            (1.234, "1.23"),
            (12.34, "12.3"),
            (123.4, "123"),
            (1234.5, "1,234"),
            (1_234_567.0, "1,234,567"),
            (-123.0, "-123"),
        ];
        for (value, text) in expected {
            assert_eq!(number(value), text);
        }
    }

    #[test]
    fn columns_stand_under_one_another() {
        let rows = [
            ["a".to_owned(), "long".to_owned()],
            ["much".to_owned(), "b".to_owned()],
        ];
        assert_eq!(align(&rows), "a     long\nmuch  b\n");
    }

    #[test]
    fn ratios_and_faults_are_told_beside_a_measurement() {
        let mut results = Results::default();
        let key = |subject| Key::new("posts", subject, "1");
        let mut sample = Sample::single(Metric::Posts, 1500.0);
        sample.faults = Faults {
            missed: 2,
            ..Faults::default()
        };
        results.add(key("ours"), sample);
        results.add(key("theirs"), Sample::single(Metric::Posts, 3000.0));
        results.compare(key("ours"), Metric::Posts, "theirs");
        let table = of(&results);
        let ours = table.lines().nth(1).unwrap();
        assert!(
            ours.contains(" 1,500 ") && ours.ends_with("0.50 × theirs, 2 missed!"),
            "{ours}"
        );
    }
}
