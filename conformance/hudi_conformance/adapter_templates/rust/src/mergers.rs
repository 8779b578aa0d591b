//! The suite's four reference mergers, for tables with the feature `merge-custom`. Clauses: RM-003 to RM-012.
//!
//! Nothing calls them yet: call `merge` where your reader merges records of a table whose merge mode is CUSTOM.

use crate::protocol::Failure;
use serde_json::{Map, Value};
use std::cmp::Ordering;
use std::collections::BTreeSet;

pub const COUNTER: &str = "2e073cb4-ac99-573a-986a-1e30a8c39b14";
pub const GREATER_OF_TWO: &str = "f4d090e1-8005-5437-b99b-455ae39820db";
pub const SET_UNION: &str = "a8a2be63-cd61-5653-a78e-c1ac920f0d25";
pub const DELETE_AT_ZERO: &str = "78bd11f0-7eb9-574e-b71c-8a553f04b96d";
const COLUMNS: &str = "hoodie.record.merge.property.hudi.conformance.columns";

/// One version of a record; a tombstone has no values, a deleted row may keep them for merges to come.
#[derive(Clone, Debug, PartialEq)]
pub struct Version {
    pub values: Option<Map<String, Value>>,
    pub ordering: Option<Vec<Value>>,
    pub is_delete: bool,
}

/// What a table says of merging: the columns that the merger works on, and its ordering fields.
pub struct Rule {
    pub columns: Vec<String>,
    pub ordering: Vec<String>,
}

/// Two versions as the table's own merger has them; `strategy` is `hoodie.record.merge.strategy.id`.
pub fn merge(
    strategy: &str,
    rule: &Rule,
    older: &Version,
    newer: &Version,
) -> Result<Version, Failure> {
    match strategy {
        COUNTER | SET_UNION => Ok(combined(rule, older, newer)),
        GREATER_OF_TWO => Ok(greater(rule, older, newer).clone()),
        DELETE_AT_ZERO => Ok(deleted_at_zero(rule, older, newer)),
        other => Err(Failure::rejected(
            "MERGER_UNKNOWN",
            format!("no merger has the strategy id {other}"),
        )),
    }
}

/// The columns that a table names for its merger; the ordering fields where it names none.
pub fn columns_of(property: impl Fn(&str) -> Option<String>, ordering: &[String]) -> Vec<String> {
    let told = property(COLUMNS).unwrap_or_default();
    let named: Vec<String> = told
        .split(',')
        .map(|name| name.trim().to_owned())
        .filter(|name| !name.is_empty())
        .collect();
    if named.is_empty() {
        ordering.to_vec()
    } else {
        named
    }
}

/// Counter and set union: the named columns of both put together, the rest the newer record's.
fn combined(rule: &Rule, older: &Version, newer: &Version) -> Version {
    let mut values = older.values.clone().unwrap_or_default();
    for (name, value) in newer.values.iter().flatten() {
        let both = match values.get(name) {
            Some(before) if rule.columns.contains(name) => together(before, value),
            _ => value.clone(),
        };
        values.insert(name.clone(), both);
    }
    for name in &rule.columns {
        values.entry(name.clone()).or_insert(Value::Null);
    }
    let ordering = values_of(&rule.ordering, &values)
        .or_else(|| newer.ordering.clone())
        .or_else(|| older.ordering.clone());
    Version {
        values: Some(values),
        ordering,
        is_delete: newer.is_delete,
    }
}

/// The counter, and the row goes where nothing is left in any of the columns; a tombstone takes nothing.
fn deleted_at_zero(rule: &Rule, older: &Version, newer: &Version) -> Version {
    let found = combined(rule, older, newer);
    let left = |name: &String| {
        found
            .values
            .as_ref()
            .and_then(|values| values.get(name))
            .and_then(Value::as_f64)
    };
    let is_delete = rule
        .columns
        .iter()
        .all(|name| left(name).unwrap_or(0.0) == 0.0);
    Version { is_delete, ..found }
}

/// The record that is greater in the first column, then in the second; a tie goes to the newer.
fn greater<'a>(rule: &Rule, older: &'a Version, newer: &'a Version) -> &'a Version {
    match (rank_of(rule, older), rank_of(rule, newer)) {
        (Some(_), None) => older,
        (Some(left), Some(right)) if compare(&left, &right) == Ordering::Greater => older,
        _ => newer,
    }
}

/// A row's columns, or a tombstone's ordering values; none where one is missing.
fn rank_of(rule: &Rule, version: &Version) -> Option<Vec<Value>> {
    match &version.values {
        Some(values) => values_of(&rule.columns, values),
        None => version.ordering.clone(),
    }
}

fn values_of(names: &[String], values: &Map<String, Value>) -> Option<Vec<Value>> {
    let found: Option<Vec<Value>> = names
        .iter()
        .map(|name| values.get(name).filter(|value| !value.is_null()).cloned())
        .collect();
    found.filter(|found| !found.is_empty())
}

fn compare(left: &[Value], right: &[Value]) -> Ordering {
    let pairs = left.iter().zip(right);
    pairs
        .map(|(one, other)| compare_values(one, other))
        .find(|found| found.is_ne())
        .unwrap_or(left.len().cmp(&right.len()))
}

fn compare_values(left: &Value, right: &Value) -> Ordering {
    match (left, right) {
        (Value::String(one), Value::String(other)) => one.cmp(other),
        _ => match (left.as_i64(), right.as_i64()) {
            (Some(one), Some(other)) => one.cmp(&other),
            _ => left
                .as_f64()
                .partial_cmp(&right.as_f64())
                .unwrap_or(Ordering::Equal),
        },
    }
}

/// The sum of numbers, or the members of either list, each once and sorted; a null adds nothing.
fn together(older: &Value, newer: &Value) -> Value {
    match (older, newer) {
        (Value::Null, other) | (other, Value::Null) => other.clone(),
        (Value::Array(one), Value::Array(other)) => {
            let members: BTreeSet<&str> =
                one.iter().chain(other).filter_map(Value::as_str).collect();
            members.into_iter().map(Value::from).collect()
        }
        _ => match (older.as_i64(), newer.as_i64()) {
            (Some(one), Some(other)) => Value::from(one + other),
            _ => {
                Value::from(older.as_f64().unwrap_or_default() + newer.as_f64().unwrap_or_default())
            }
        },
    }
}
