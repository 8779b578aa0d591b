//! The loop of the adapter protocol, version 1.

use serde_json::{json, Value};
use std::io::{BufRead, Write};
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::path::PathBuf;

/// One question about one table; `out_dir` is an empty folder for files of rows.
pub struct Request {
    pub op: String,
    pub table: PathBuf,
    pub params: Value,
    pub out_dir: PathBuf,
}

impl Request {
    /// Whether a parameter is there and true.
    pub fn flag(&self, name: &str) -> bool {
        self.params[name] == Value::Bool(true)
    }
}

/// Why there is no result.
#[derive(Debug, PartialEq)]
pub enum Failure {
    /// The table or the question is refused, for a reason that all implementations share.
    Rejected {
        reason: &'static str,
        message: String,
    },
    /// Not built yet: the suite counts it apart, and never as a failure.
    Unsupported { feature: String },
    /// Something went wrong in here.
    Errored { message: String },
}

impl Failure {
    pub fn rejected(reason: &'static str, message: impl Into<String>) -> Self {
        Failure::Rejected {
            reason,
            message: message.into(),
        }
    }

    pub fn unsupported(feature: impl Into<String>) -> Self {
        Failure::Unsupported {
            feature: feature.into(),
        }
    }

    fn told(self) -> (&'static str, Value) {
        match self {
            Failure::Rejected { reason, message } => {
                ("rejected", json!({"reason": reason, "message": message}))
            }
            Failure::Unsupported { feature } => ("unsupported", json!({"feature": feature})),
            Failure::Errored { message } => ("errored", json!({"message": message})),
        }
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Failure::Errored {
            message: error.to_string(),
        }
    }
}

/// Answers messages until `stop` or the end of input.
pub fn serve(
    features: &[&str],
    operations: &[&str],
    answer: impl Fn(&Request) -> Result<Value, Failure>,
) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let message: Value = serde_json::from_str(&line?)?;
        let told = match message["cmd"].as_str() {
            Some("stop") => return Ok(()),
            Some("start") => hello(features, operations),
            _ => answered(&message, &answer),
        };
        writeln!(out, "{told}")?;
        out.flush()?;
    }
    Ok(())
}

fn hello(features: &[&str], operations: &[&str]) -> Value {
    let who = json!({"name": env!("CARGO_PKG_NAME"), "version": env!("CARGO_PKG_VERSION"), "language": "rust"});
    json!({"protocol": 1, "implementation": who, "features": features, "ops": operations})
}

fn answered(message: &Value, answer: &impl Fn(&Request) -> Result<Value, Failure>) -> Value {
    let text = |key: &str| message[key].as_str().unwrap_or_default().to_owned();
    let request = Request {
        op: text("op"),
        table: PathBuf::from(text("table")),
        params: message["params"].clone(),
        out_dir: PathBuf::from(text("out_dir")),
    };
    let panicked = |_| {
        Err(Failure::Errored {
            message: format!("panicked in {}", request.op),
        })
    };
    let (kind, content) =
        match catch_unwind(AssertUnwindSafe(|| answer(&request))).unwrap_or_else(panicked) {
            Ok(value) => ("result", json!({ "value": value })),
            Err(failure) => failure.told(),
        };
    json!({"seq": message["seq"], kind: content})
}
