//! The JSON schema of everything that crosses the engine's boundary as JSON: drive files, specifications, outcomes.
//!
//! It describes serialised values, in which every key is present, so that `required` lists the keys in order. A key
//! that may be omitted has a `default`. `allowed` completes "should be" for the values of a drive file.

use super::DescribedDrive;
use super::Problem;
use crate::simulation::Outcome;
use crate::specification::Specification;
use crate::specification::drive::DriveFile;
use schemars::generate::SchemaSettings;
use serde_json::{Value, json};
use std::sync::LazyLock;

static SCHEMA: LazyLock<Value> = LazyLock::new(made);

/// With `properties` `drive_file`, `described_drive`, `problem`, `specification` and `outcome`, whose types are in
/// `$defs`.
pub fn schema() -> &'static Value {
    &SCHEMA
}

/// The type of a drive file.
pub fn drive_file() -> &'static Value {
    target(&schema()["properties"]["drive_file"])
}

/// The node itself, or the type that it refers to. An optional value refers to its type or to null.
pub fn target(node: &Value) -> &Value {
    target_in(&SCHEMA, node)
}

fn target_in<'a>(schema: &'a Value, node: &'a Value) -> &'a Value {
    let referred = |node: &'a Value| node["$ref"].as_str().and_then(|name| name.rsplit('/').next());
    let mut choices = node["anyOf"].as_array().into_iter().flatten();
    match referred(node).or_else(|| choices.find_map(referred)) {
        Some(name) => &schema["$defs"][name],
        None => node,
    }
}

fn made() -> Value {
    let mut generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let properties = json!({
        "drive_file": generator.subschema_for::<DriveFile>(),
        "described_drive": generator.subschema_for::<DescribedDrive>(),
        "problem": generator.subschema_for::<Problem>(),
        "specification": generator.subschema_for::<Specification>(),
        "outcome": generator.subschema_for::<Outcome>(),
    });
    let mut schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "properties": properties,
        "$defs": generator.take_definitions(true),
    });
    say_what_is_allowed(&mut schema);
    schema
}

/// Adds `allowed` to the tables of drive files.
fn say_what_is_allowed(schema: &mut Value) {
    let plain = schema.clone();
    let name_of = |node: &Value| node["$ref"].as_str().and_then(|name| name.rsplit('/').next()).map(str::to_owned);
    let Some(file) = name_of(&plain["properties"]["drive_file"]) else { return };
    let mut tables = vec![file.clone()];
    let properties = plain["$defs"][&file]["properties"].as_object().into_iter().flatten();
    tables.extend(properties.filter_map(|(_, property)| name_of(property)));
    tables.extend(name_of(&plain["$defs"][&file]["properties"]["sources"]["additionalProperties"]));
    for table in tables {
        let Some(properties) = schema["$defs"][&table]["properties"].as_object_mut() else { continue };
        for (name, property) in properties {
            let node = target_in(&plain, property);
            let is_table = node["type"] == "object";
            if property.get("allowed").is_none() && node.get("allowed").is_none() {
                let words = if is_table { format!("a table, [{name}]") } else { words(node) };
                property["allowed"] = words.into();
            }
        }
    }
}

/// The values that a node allows, in words.
fn words(node: &Value) -> String {
    let kinds = node["type"].as_array();
    let kind = node["type"].as_str().or_else(|| kinds?.iter().filter_map(Value::as_str).find(|kind| *kind != "null"));
    let listed = choices(node);
    match kind {
        _ if !listed.is_empty() => one_of(&listed),
        Some("boolean") => "true or false".into(),
        Some("string") => "a text".into(),
        Some("integer") => format!("a whole number{}", bounds(node)),
        _ => format!("a number{}", bounds(node)),
    }
}

fn choices(node: &Value) -> Vec<&str> {
    let of = |node: &'_ Value| node["const"].as_str().map(str::to_owned).is_some();
    let documented = node["oneOf"].as_array().into_iter().flatten().filter(|node| of(node)).map(|node| &node["const"]);
    let grouped = node["oneOf"].as_array().into_iter().flatten().filter_map(|node| node["enum"].as_array()).flatten();
    let plain = node["enum"].as_array().into_iter().flatten();
    documented.chain(grouped).chain(plain).filter_map(Value::as_str).collect()
}

/// `'a', 'b' or 'c'`.
fn one_of(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
    match quoted.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} or {last}", others.join(", ")),
        _ => quoted.join(""),
    }
}

fn bounds(node: &Value) -> String {
    let number = |key: &str| node[key].as_f64();
    let least = number("minimum").map(|least| format!(" from {least}"));
    let least = least.or_else(|| number("exclusiveMinimum").map(|least| format!(" above {least}")));
    let most = number("maximum").map(|most| format!(" to {most}"));
    let most = most.or_else(|| number("exclusiveMaximum").map(|most| format!(" to below {most}")));
    match (least, most) {
        (Some(least), None) if least.starts_with(" from") => format!(" of {} or more", &least[6..]),
        (least, most) => least.unwrap_or_default() + &most.unwrap_or_default(),
    }
}
