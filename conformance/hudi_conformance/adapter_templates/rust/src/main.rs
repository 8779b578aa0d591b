//! The process that the suite starts: one question a line on stdin, one answer a line on stdout.

use template_adapter::protocol::{serve, Failure, Request};
use template_adapter::timeline::list_instants;

/// Every operation that this adapter has; for the rest it says `unsupported`.
const OPERATIONS: [&str; 1] = ["list_timeline"];
const FEATURES: [&str; 5] = [
    "table-version-4",
    "table-version-5",
    "table-version-6",
    "table-version-8",
    "table-version-9",
];

fn main() -> std::io::Result<()> {
    serve(&FEATURES, &OPERATIONS, answer)
}

fn answer(request: &Request) -> Result<serde_json::Value, Failure> {
    match request.op.as_str() {
        "list_timeline" if request.flag("include_history") => Err(Failure::unsupported("history")),
        "list_timeline" => list_instants(&request.table),
        other => Err(Failure::unsupported(other)),
    }
}
