//! The reference mergers, pair by pair as the suite's model merges them.

use serde_json::Value;
use template_adapter::mergers::{columns_of, merge, Rule, Version};

fn version(told: &Value) -> Version {
    Version {
        values: told["values"].as_object().cloned(),
        ordering: told["ordering"].as_array().cloned(),
        is_delete: told["is_delete"] == Value::Bool(true),
    }
}

fn names(told: &Value) -> Vec<String> {
    told.as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .map(str::to_owned)
        .collect()
}

#[test]
fn every_pair_is_merged_as_the_model_merges_it() {
    let cases: Vec<Value> = serde_json::from_str(include_str!("../merger-cases.json")).unwrap();
    assert!(!cases.is_empty());
    for case in &cases {
        let rule = Rule {
            columns: names(&case["columns"]),
            ordering: names(&case["ordering"]),
        };
        let strategy = case["strategy"].as_str().unwrap();
        let merged = merge(
            strategy,
            &rule,
            &version(&case["older"]),
            &version(&case["newer"]),
        )
        .unwrap();
        assert_eq!(merged, version(&case["merged"]), "{case}");
    }
}

#[test]
fn an_unknown_strategy_is_refused() {
    let nothing = version(&Value::Null);
    let rule = Rule {
        columns: vec![],
        ordering: vec![],
    };
    assert!(merge(
        "00000000-0000-0000-0000-000000000000",
        &rule,
        &nothing,
        &nothing
    )
    .is_err());
}

#[test]
fn columns_are_those_that_the_table_names_else_its_ordering_fields() {
    let ordering = ["ts".to_owned()];
    assert_eq!(
        columns_of(|_| Some("a, b".to_owned()), &ordering),
        ["a", "b"]
    );
    assert_eq!(columns_of(|_| None, &ordering), ["ts"]);
}
