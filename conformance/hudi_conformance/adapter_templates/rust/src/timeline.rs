//! What a table's files say of its timeline: names of files, and where they stand. Clauses: TL-001 to TL-012, PR-007.

use crate::protocol::Failure;
use serde_json::{json, Value};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

const ACTIONS: [&str; 11] = [
    "commit",
    "deltacommit",
    "replacecommit",
    "clean",
    "compaction",
    "logcompaction",
    "clustering",
    "indexing",
    "rollback",
    "savepoint",
    "restore",
];

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum State {
    Requested,
    Inflight,
    Completed,
}

#[derive(Debug)]
struct Entry {
    requested: String,
    completed: Option<String>,
    action: String,
    state: State,
}

/// Every action in its highest state, by requested time.
pub fn list_instants(table: &Path) -> Result<Value, Failure> {
    let properties = read_properties(table)?;
    let layout = layout_of(&properties)?;
    let mut folder = table.join(".hoodie");
    if layout == 2 {
        folder.push(
            properties
                .get("hoodie.timeline.path")
                .map_or("timeline", String::as_str),
        );
    }
    let mut entries = Vec::new();
    for file in folder.read_dir().into_iter().flatten() {
        let file = file?;
        if file.file_type()?.is_file() {
            entries.extend(parse(&file.file_name().to_string_lossy())?);
        }
    }
    entries.retain(|entry| in_layout(entry, layout));
    Ok(collapse(entries)?.iter().map(told).collect())
}

/// Whether an entry counts: an upgrade that stopped leaves completed files of the other layout behind.
fn in_layout(entry: &Entry, layout: u8) -> bool {
    entry.state != State::Completed || entry.completed.is_none() == (layout == 1)
}

/// Each action once. A savepoint has the instant of the action that it keeps, and is another action; so is a clean of an
/// old release that has the instant of a write.
fn collapse(entries: Vec<Entry>) -> Result<Vec<Entry>, Failure> {
    let mut found: BTreeMap<(String, String), Entry> = BTreeMap::new();
    for entry in entries {
        let is_beside = matches!(entry.action.as_str(), "clean" | "savepoint");
        let kind = if is_beside { entry.action.to_string() } else { String::new() };
        let key = (entry.requested.clone(), kind);
        match found.get(&key) {
            Some(other) if other.state == State::Completed && entry.state == State::Completed => {
                return Err(Failure::rejected(
                    "INSTANT_MALFORMED",
                    format!("{} completed twice", entry.requested),
                ));
            }
            Some(other) if other.state >= entry.state => {}
            _ => {
                found.insert(key, entry);
            }
        }
    }
    Ok(found.into_values().collect())
}

fn told(entry: &Entry) -> Value {
    let state = match entry.state {
        State::Requested => "REQUESTED",
        State::Inflight => "INFLIGHT",
        State::Completed => "COMPLETED",
    };
    json!({"requested": entry.requested, "completed": entry.completed, "action": entry.action, "state": state})
}

/// A file's name as an entry; none where it is no part of the timeline.
fn parse(name: &str) -> Result<Option<Entry>, Failure> {
    let last = name.rsplit('.').next().unwrap_or_default();
    let looks_like_one = name.starts_with(|first: char| first.is_ascii_digit())
        || ACTIONS.contains(&last)
        || ["requested", "inflight", "completed"].contains(&last);
    if !looks_like_one {
        return Ok(None);
    }
    entry_of(name)
        .map(Some)
        .ok_or_else(|| Failure::rejected("INSTANT_MALFORMED", format!("{name} is no instant")))
}

fn entry_of(name: &str) -> Option<Entry> {
    let (times, rest) = name.split_once('.')?;
    let (requested, completed) = match times.split_once('_') {
        Some((requested, completed)) => (requested, Some(completed)),
        None => (times, None),
    };
    let (action, state) = match rest.split_once('.') {
        // An inflight commit has a name without its action.
        None if rest == "inflight" => ("commit", State::Inflight),
        None => (rest, State::Completed),
        Some((action, "requested")) => (action, State::Requested),
        Some((action, "inflight")) => (action, State::Inflight),
        Some(_) => return None,
    };
    let sound = is_instant(requested)
        && completed.into_iter().all(is_instant)
        && ACTIONS.contains(&action)
        && (state == State::Completed || completed.is_none());
    sound.then(|| Entry {
        requested: requested.to_owned(),
        completed: completed.map(str::to_owned),
        action: action.to_owned(),
        state,
    })
}

fn is_instant(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// 1: the timeline's files stand in `.hoodie`; 2: in a folder below it.
fn layout_of(properties: &HashMap<String, String>) -> Result<u8, Failure> {
    let told = |key: &str| properties.get(key).map(String::as_str);
    let usual = match told("hoodie.table.version")
        .unwrap_or_default()
        .parse::<u32>()
    {
        Ok(4..=6) => "1",
        Ok(8 | 9) => "2",
        Ok(other) => {
            return Err(Failure::rejected(
                "TABLE_VERSION_UNSUPPORTED",
                format!("table version {other}"),
            ))
        }
        Err(_) => {
            return Err(Failure::rejected(
                "PROPERTIES_INVALID",
                "hoodie.table.version is no number",
            ))
        }
    };
    match told("hoodie.timeline.layout.version").unwrap_or(usual) {
        "1" => Ok(1),
        "2" => Ok(2),
        other => Err(Failure::rejected(
            "PROPERTIES_INVALID",
            format!("timeline layout {other}"),
        )),
    }
}

/// `hoodie.properties`, or its backup where it is absent. A whole reader needs the escapes of Java as well.
fn read_properties(table: &Path) -> Result<HashMap<String, String>, Failure> {
    for name in ["hoodie.properties", "hoodie.properties.backup"] {
        let path = table.join(".hoodie").join(name);
        if path.is_file() {
            let text = String::from_utf8_lossy(&std::fs::read(path)?).into_owned();
            let lines = text
                .lines()
                .map(str::trim)
                .filter(|line| !line.starts_with(['#', '!']));
            let pairs = lines.filter_map(|line| line.split_once('='));
            return Ok(pairs
                .map(|(key, value)| (key.trim().to_owned(), value.trim().to_owned()))
                .collect());
        }
    }
    Err(Failure::rejected(
        "NOT_A_TABLE",
        format!("{} has no hoodie.properties", table.display()),
    ))
}
