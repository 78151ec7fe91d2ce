//! What a check found, and how it is shown.

use std::fmt::{self, Display};

use serde::Serialize;

/// What became of one check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Finding {
    /// Which check it is, such as `proxy_buffering`.
    check: &'static str,
    severity: Severity,
    /// What was looked at.
    subject: String,
    /// What was seen there.
    seen: String,
    /// What to do, unless it is in order.
    #[serde(skip_serializing_if = "Option::is_none")]
    advice: Option<String>,
}

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Severity {
    /// In order.
    Ok,
    /// It works, and not as well as it should; or it could not be looked at.
    Warning,
    /// Something does not work, or data is in danger.
    Error,
}

impl Finding {
    pub(super) fn ok(
        check: &'static str,
        subject: impl Into<String>,
        seen: impl Into<String>,
    ) -> Self {
        Self {
            check,
            severity: Severity::Ok,
            subject: subject.into(),
            seen: seen.into(),
            advice: None,
        }
    }

    pub(super) fn warning(
        check: &'static str,
        subject: impl Into<String>,
        seen: impl Into<String>,
        advice: impl Into<String>,
    ) -> Self {
        Self {
            severity: Severity::Warning,
            advice: Some(advice.into()),
            ..Self::ok(check, subject, seen)
        }
    }

    pub(super) fn error(
        check: &'static str,
        subject: impl Into<String>,
        seen: impl Into<String>,
        advice: impl Into<String>,
    ) -> Self {
        Self {
            severity: Severity::Error,
            ..Self::warning(check, subject, seen, advice)
        }
    }
}

/// All findings.
#[derive(Serialize)]
pub(super) struct DoctorReport {
    pub(super) findings: Vec<Finding>,
}

impl DoctorReport {
    /// The worst come last, where a terminal shows them.
    pub(super) fn new(mut findings: Vec<Finding>) -> Self {
        findings.sort_by_key(|finding| finding.severity as u8);
        Self { findings }
    }

    pub(super) fn errors(&self) -> usize {
        self.count(Severity::Error)
    }

    fn count(&self, severity: Severity) -> usize {
        let found = self.findings.iter();
        found.filter(|finding| finding.severity == severity).count()
    }
}

impl Display for DoctorReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for finding in &self.findings {
            writeln!(f, "{finding}")?;
        }
        write!(
            f,
            "{} in order, {} to look at, {} wrong",
            self.count(Severity::Ok),
            self.count(Severity::Warning),
            self.errors()
        )
    }
}

impl Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let severity = match self.severity {
            Severity::Ok => "ok",
            Severity::Warning => "warning",
            Severity::Error => "error",
        };
        let check = self.check.replace('_', " ");
        write!(f, "{severity:7}  {check}, {}: {}", self.subject, self.seen)?;
        match &self.advice {
            None => Ok(()),
            Some(advice) => write!(f, "\n         {advice}"),
        }
    }
}
