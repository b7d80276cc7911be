//! Checks the keys of a drive file, the types of their values and the bounds of each alone, against the schema; and
//! that each value has a source.

use super::schema::{self, target};
use super::{Problem, ProblemKind};
use serde_json::{Map, Value};

pub fn check(content: &Value) -> Vec<Problem> {
    let mut problems = Vec::new();
    match content.as_object() {
        Some(keys) => table("", schema::drive_file(), keys, &mut problems),
        None => problems.push(Problem::value("drive", content.clone(), "a table of keys")),
    }
    problems
}

fn table(path: &str, node: &Value, content: &Map<String, Value>, problems: &mut Vec<Problem>) {
    let key_of = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
    let properties = node["properties"].as_object();
    for name in node["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        let property = &node["properties"][name];
        match content.get(name) {
            Some(value) => self::value(&key_of(name), property, value, problems),
            None if property.get("default").is_some() => {}
            None => problems.push(Problem {
                kind: ProblemKind::MissingKey,
                ..Problem::value(key_of(name), Value::Null, allowed(property))
            }),
        }
    }
    // Keys that a description omits when they are empty are not required.
    let is_required = |name: &str| node["required"].as_array().is_some_and(|names| names.iter().any(|key| key == name));
    for (name, property) in properties.into_iter().flatten().filter(|(name, _)| !is_required(name)) {
        if let Some(value) = content.get(name) {
            list(&key_of(name), property, value, problems);
        }
    }
    for (name, value) in content.iter().filter(|(name, _)| properties.is_none_or(|known| !known.contains_key(*name))) {
        match &node["additionalProperties"] {
            Value::Bool(true) => {}
            entry @ Value::Object(_) => self::value(&key_of(name), entry, value, problems),
            _ => problems.push(Problem {
                kind: ProblemKind::UnknownKey,
                known: names(node),
                ..Problem::value(key_of(name), value.clone(), keys_of(path))
            }),
        }
    }
}

fn value(key: &str, property: &Value, value: &Value, problems: &mut Vec<Problem>) {
    let node = target(property);
    // A table, or one that may replace a text.
    let as_table = [node].into_iter().chain(node["anyOf"].as_array().into_iter().flatten().map(target));
    match (as_table.into_iter().find(|node| node["type"] == "object"), value.as_object()) {
        (Some(node), Some(content)) => table(key, node, content, problems),
        _ if fits(node, value) => {}
        _ => problems.push(Problem::value(key, value.clone(), allowed(property))),
    }
}

/// A list of tables, which count from 1.
fn list(key: &str, property: &Value, value: &Value, problems: &mut Vec<Problem>) {
    let Some(items) = value.as_array() else {
        problems.push(Problem::value(key, value.clone(), allowed(property)));
        return;
    };
    for (index, item) in items.iter().enumerate() {
        self::value(&format!("{key}.{}", index + 1), &property["items"], item, problems);
    }
}

/// Completes "should be", for a value of this type.
fn allowed(property: &Value) -> String {
    let words = [property, target(property)].into_iter().find_map(|node| node["allowed"].as_str());
    words.unwrap_or("a table").to_owned()
}

fn keys_of(path: &str) -> String {
    if path.is_empty() { "top-level keys and tables".into() } else { format!("keys of [{path}]") }
}

/// The keys of a table: those always present in a description, then those omitted when they are empty.
fn names(node: &Value) -> Vec<String> {
    let required = node["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let mut names: Vec<String> = required.map(str::to_owned).collect();
    let optional = node["properties"].as_object().into_iter().flat_map(Map::keys);
    names.extend(
        optional
            .filter(|name| !node["required"].as_array().is_some_and(|keys| keys.iter().any(|key| key == *name)))
            .cloned(),
    );
    names
}

/// Whether a value other than a table has this type and is within its bounds.
fn fits(node: &Value, value: &Value) -> bool {
    let node = target(node);
    let one_of = |key: &str| node[key].as_array().is_none_or(|nodes| nodes.iter().any(|node| fits(node, value)));
    let is_listed = node["enum"].as_array().is_none_or(|words| words.contains(value));
    let is_constant = node.get("const").is_none_or(|constant| constant == value);
    is_of_type(node, value)
        && is_listed
        && is_constant
        && one_of("anyOf")
        && one_of("oneOf")
        && is_within(node, value)
        && items_fit(node, value)
}

fn is_of_type(node: &Value, value: &Value) -> bool {
    let is_one = |name: &str| match name {
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => value.is_null(),
    };
    match &node["type"] {
        Value::String(name) => is_one(name),
        Value::Array(names) => names.iter().filter_map(Value::as_str).any(is_one),
        _ => true,
    }
}

fn is_within(node: &Value, value: &Value) -> bool {
    let Some(number) = value.as_f64() else {
        return value
            .as_str()
            .is_none_or(|text| text.chars().count() as u64 >= node["minLength"].as_u64().unwrap_or(0));
    };
    let bound = |key: &str| node[key].as_f64();
    bound("minimum").is_none_or(|least| number >= least)
        && bound("maximum").is_none_or(|most| number <= most)
        && format_max(node).is_none_or(|most| number <= most)
        && bound("exclusiveMinimum").is_none_or(|least| number > least)
        && bound("exclusiveMaximum").is_none_or(|most| number < most)
}

/// The largest number that the engine, or TOML, can store.
fn format_max(node: &Value) -> Option<f64> {
    match node["format"].as_str()? {
        "uint32" => Some(f64::from(u32::MAX)),
        "uint64" => Some(i64::MAX as f64),
        _ => None,
    }
}

fn items_fit(node: &Value, value: &Value) -> bool {
    let Some(items) = value.as_array() else { return true };
    let count = items.len() as u64;
    count >= node["minItems"].as_u64().unwrap_or(0)
        && node["maxItems"].as_u64().is_none_or(|most| count <= most)
        && items.iter().all(|item| fits(&node["items"], item))
}

/// Checks that every value of a table has a source, its own or that of its table, and that every source has a value.
pub fn check_sources(content: &Value) -> Vec<Problem> {
    let none = Map::new();
    let sources = content["sources"].as_object().unwrap_or(&none);
    let file = schema::drive_file();
    let of_table = |table: &String| -> Vec<String> {
        let node = target(&file["properties"][table]);
        let keys = if node.get("properties").is_some() { names(node) } else { Vec::new() };
        keys.iter().filter(|key| content[table].get(key).is_some()).map(|key| format!("{table}.{key}")).collect()
    };
    // The name for all values of the table, and each of them.
    let with_table = |table: String| of_table(&table).into_iter().map(move |key| (format!("{table}.*"), key));
    let said: Vec<(String, String)> = names(file).into_iter().flat_map(with_table).collect();
    let mut problems = Vec::new();
    for (entry, source) in sources {
        if !said.iter().any(|(table, key)| entry == table || entry == key) {
            let mut known: Vec<String> = said.iter().flat_map(|(table, key)| [key.clone(), table.clone()]).collect();
            known.dedup();
            let problem =
                Problem::value(format!("sources.{entry}"), source.clone(), "the name of a value of this file");
            problems.push(Problem { kind: ProblemKind::UnknownKey, known, ..problem });
        }
    }
    let has_none = |(table, key): &&(String, String)| !sources.contains_key(key) && !sources.contains_key(table);
    let missing: Vec<String> = said.iter().filter(has_none).map(|(_, key)| key.clone()).collect();
    if !missing.is_empty() {
        let problem = Problem::value("sources", Value::Null, "a source for each value");
        problems.push(Problem { kind: ProblemKind::NoSource, known: missing, ..problem });
    }
    problems
}
