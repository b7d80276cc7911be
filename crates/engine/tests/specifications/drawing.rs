//! Specifications drawn from the schema: a small drive and a few jobs, of which some keys have any value that their type
//! allows. Many are refused, which is an answer; the others are run.
//!
//! Amounts and times are kept small, so that a run is.

use serde_json::{Value, json};
use ssdlab_engine::description::schema::{schema, target};
use ssdlab_engine::policies::descriptions;
use ssdlab_engine::specification::Job;

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
/// A drive has at most so many mapping units, where one is drawn. Most are small, since small runs find as much.
const UNITS_MAX: [u64; 4] = [1024, 1024, 1024, 4096];
const TIME_NS_MAX: u64 = 5_000_000;
const COMMAND_US_MIN: f64 = 0.1;
/// A deeper queue only takes longer: all of its requests are in the drive when a stage has ended.
const DEPTH_MAX: u64 = 256;
/// Of a job, each time that it runs, where one is drawn.
const REQUESTS_MAX: [u64; 4] = [600, 600, 600, 3000];
/// Runs until the steady state take most of the time of all; most of them are short.
const ROUNDS_A_FILL: [u64; 4] = [4, 16, 16, 64];

/// Bytes as a sequence of choices; zeroes follow them.
pub struct Choices<'a> {
    bytes: &'a [u8],
}

impl<'a> Choices<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    /// A number below `end`, which is not 0.
    fn below(&mut self, end: u64) -> u64 {
        let length = if end > 1 << 16 { 8 } else { 2 }.min(self.bytes.len());
        let (now, later) = self.bytes.split_at(length);
        self.bytes = later;
        now.iter().fold(0u64, |number, &byte| number << 8 | u64::from(byte)) % end
    }

    fn one_in(&mut self, count: u64) -> bool {
        self.below(count) == count - 1
    }

    fn of<T: Clone>(&mut self, values: &[T]) -> T {
        values[self.below(values.len() as u64) as usize].clone()
    }
}

/// A drawn specification.
pub struct Drawn {
    pub specification: Value,
    /// The same before keys were given any value.
    plain: Value,
}

impl Drawn {
    pub fn new(choices: &mut Choices<'_>) -> Self {
        let plain_drive = drive(choices);
        let bytes = plain_drive["ftl"]["user_bytes"].as_u64().expect("a number");
        let unit_bytes = plain_drive["ftl"]["mapping_unit_bytes"].as_u64().expect("a number");
        let mut drive = plain_drive.clone();
        for _ in 0..choices.below(7) {
            change_a_key(choices, "Drive", &mut drive);
        }
        let (mut jobs, mut plain_jobs, mut stage) = (Vec::new(), Vec::new(), 0);
        for number in 0..=choices.below(4) {
            stage += choices.below(2);
            let plain = job(choices, number, stage, bytes, unit_bytes);
            let mut drawn = plain.clone();
            for _ in 0..choices.below(6) {
                change_a_key(choices, "Job", &mut drawn);
            }
            keep_small(&mut drawn, bytes, choices.of(&REQUESTS_MAX));
            jobs.push(drawn);
            plain_jobs.push(plain);
        }
        let is_steady = choices.one_in(5);
        let round_bytes = bytes / choices.of(&ROUNDS_A_FILL);
        let steady = json!({
            "kind": "steady-state", "round_bytes": round_bytes, "host_bytes_max": round_bytes * choices.of(&[4, 8]),
        });
        if is_steady {
            // Rounds are in bytes: there are millions of writes of a byte in them, or of reads beside writes that come
            // now and then.
            for (job, plain) in jobs.iter_mut().zip(&plain_jobs) {
                for key in ["rate_iops", "rate_bytes_per_second", "block_sizes", "following_block_sizes"] {
                    job[key] = plain[key].clone();
                }
            }
        }
        let specification = json!({
            "seed": choices.below(1 << 32), "drive": drive, "timed": !choices.one_in(4),
            "until": if is_steady { steady } else { json!({ "kind": "job" }) },
            "series_points_max": 1 + choices.below(64), "jobs": jobs,
        });
        Self { specification, plain: json!({ "drive": plain_drive, "jobs": plain_jobs }) }
    }

    /// Takes back the value of a key that was refused, or of its table. Returns whether anything has changed.
    pub fn take_back(&mut self, refused: &str) -> bool {
        let before = self.specification.clone();
        let user_bytes = self.specification["drive"]["ftl"]["user_bytes"].as_u64().unwrap_or(0);
        let words: Vec<&str> = refused.split('.').collect();
        match words[..] {
            ["ftl", "user_bytes"] => self.specification["drive"]["ftl"]["user_bytes"] = json!(user_bytes / 8192 * 4096),
            ["jobs", name, "size_bytes", ..] => {
                for job in self.jobs_of(name) {
                    (job["offset_bytes"], job["size_bytes"]) = (json!(0), json!(user_bytes));
                }
            }
            ["jobs", name, key, ..] => {
                let plain = self.plain["jobs"].as_array().into_iter().flatten().find(|job| job["name"] == name);
                let plain = plain.map_or(Value::Null, |job| job[key].clone());
                self.jobs_of(name).for_each(|job| job[key] = plain.clone());
            }
            [table, key, ..] => {
                let plain = self.plain["drive"][table].clone();
                let drive = self.specification["drive"].as_object_mut().expect("a table");
                let is_plain = drive.get(table).is_none_or(|drawn| drawn.get(key) == plain.get(key));
                match drive.get_mut(table).and_then(Value::as_object_mut) {
                    Some(drawn) if !is_plain => match plain.get(key) {
                        Some(plain) => drop(drawn.insert(key.to_owned(), plain.clone())),
                        None => drop(drawn.remove(key)),
                    },
                    _ if plain.is_null() => drop(drive.remove(table)),
                    _ => drop(drive.insert(table.to_owned(), plain)),
                }
            }
            _ => {}
        }
        self.specification != before
    }

    /// Takes back what was drawn for the drive, but for the plain one.
    pub fn take_back_drive(&mut self) {
        self.specification["drive"] = self.plain["drive"].clone();
    }

    fn jobs_of<'a>(&'a mut self, name: &'a str) -> impl Iterator<Item = &'a mut Value> {
        self.specification["jobs"].as_array_mut().into_iter().flatten().filter(move |job| job["name"] == name)
    }
}

fn drive(choices: &mut Choices<'_>) -> Value {
    let unit_bytes = choices.of(&[4096, 4096, 4096, 4096, 512, 8192]);
    let page_bytes = unit_bytes * choices.of(&[1u64, 2, 4, 4]);
    let pages_per_program = choices.of(&[1, 1, 1, 3]);
    let [channels, dies, planes] = [choices.of(&[1u64, 2, 4]), choices.of(&[1, 1, 2, 3]), choices.of(&[1, 2, 2, 4])];
    let pages = choices.of(&[6u64, 12, 12, 24]);
    let units_per_block = page_bytes / unit_bytes * pages;
    let blocks =
        (choices.of(&UNITS_MAX) / (channels * dies * planes * units_per_block)).clamp(8, 16 + choices.below(48));
    let units = channels * dies * planes * blocks * units_per_block;
    json!({
        "name": "drawn",
        "nand": {
            "cell": choices.of(&["slc", "mlc", "tlc", "qlc"]), "channels": channels, "dies_per_channel": dies,
            "planes_per_die": planes, "blocks_per_plane": blocks, "pages_per_block": pages, "page_bytes": page_bytes,
            "pages_per_program": pages_per_program, "read_us": 60.0, "program_us": 700.0, "erase_us": 5000.0,
            "channel_mb_s": 400.0, "endurance_cycles": 3000,
        },
        "ftl": {
            "user_bytes": units * (30 + choices.below(62)) / 100 * unit_bytes, "mapping_unit_bytes": unit_bytes,
            "erase_unit": choices.of(&["superblock", "superblock", "block"]),
            "victim": usual_policy(choices, "victim", "greedy"),
            "placement": usual_policy(choices, "placement", "host-gc-split"),
            "wear_leveling": usual_policy(choices, "wear_leveling", "none"), "reserve_erase_units": 1 + choices.below(3),
            "spare_area": "dynamic",
        },
        "parity": { "units_per_stripe": 0 },
        "faults": { "factory_bad_blocks": 0.0, "wear_out": false, "endurance_spread": 0.0 },
        "write_buffer": { "bytes": choices.of(&[0, 100_000, 256 * KIB, MIB, 4 * MIB]) },
    })
}

fn job(choices: &mut Choices<'_>, number: u64, stage: u64, drive_bytes: u64, unit_bytes: u64) -> Value {
    let size_bytes = choices.of(&[drive_bytes, drive_bytes, drive_bytes / 2, drive_bytes / 5]);
    let length = choices.of(&[4096, 4096, 512, 8192, 65536, 131_072, MIB]);
    let sizes = choices.of(&[
        json!([{ "bytes": length, "percent": 100.0 }]),
        json!([{ "bytes": length, "percent": 100.0 }]),
        json!([{ "bytes": unit_bytes, "percent": 30.0 }, { "bytes": length, "percent": 70.0 }]),
    ]);
    let align = choices.of(&[4096, 4096, 512, unit_bytes]);
    let mut job = serde_json::to_value(Job::default()).expect("a job");
    let base = json!({
        "name": format!("j{number}"), "stage": stage, "seed": choices.below(1 << 16),
        "direction": choices.of(&["write", "write", "write", "read", "trim", "read-write", "trim-write"]),
        "sequential": choices.one_in(3), "size_bytes": size_bytes, "io_bytes": size_bytes * (1 + choices.below(3)),
        "block_sizes": { "read": sizes, "write": sizes, "trim": sizes },
        "block_align_bytes": { "read": align, "write": align, "trim": align },
        "iodepth": choices.of(&[1, 2, 8, 32]),
    });
    for (key, value) in base.as_object().expect("a table") {
        job[key] = value.clone();
    }
    job
}

/// A run of a small drive must remain small.
fn keep_small(job: &mut Value, drive_bytes: u64, requests_max: u64) {
    let amount = job["io_bytes"].as_u64().unwrap_or(0);
    job["io_bytes"] = json!(amount.min(4 * drive_bytes));
    job["loops"] = json!(job["loops"].as_u64().unwrap_or(1).min(2));
    job["number_ios"] = json!(job["number_ios"].as_u64().unwrap_or(requests_max).min(requests_max));
    if job["time_based"] == json!(true) && job["runtime_ns"].is_null() {
        job["runtime_ns"] = json!(TIME_NS_MAX);
    }
}

/// One of the policies for a key of `[ftl]`, perhaps with a parameter of any value.
fn policy(choices: &mut Choices<'_>, key: &str) -> Value {
    let all = descriptions().into_iter().map(|policy| serde_json::to_value(policy).expect("a table"));
    let policy = choices.of(&all.filter(|policy| policy["kind"] == key).collect::<Vec<_>>());
    let mut chosen = json!({ "name": policy["name"] });
    let parameters: Vec<_> = policy["parameters"].as_object().into_iter().flatten().collect();
    if !parameters.is_empty() && choices.one_in(2) {
        let (name, default) = choices.of(&parameters);
        chosen[name] = like(choices, default);
    }
    chosen
}

/// That of most drives, or another one.
fn usual_policy(choices: &mut Choices<'_>, key: &str, usual: &str) -> Value {
    if choices.one_in(2) { policy(choices, key) } else { json!({ "name": usual }) }
}

/// A value of the same type.
fn like(choices: &mut Choices<'_>, value: &Value) -> Value {
    match value {
        Value::Bool(_) => json!(choices.one_in(2)),
        Value::Number(number) if number.is_f64() => real(choices, &json!({}), ""),
        Value::Number(_) => whole(choices, &json!({ "minimum": 0 }), ""),
        other => other.clone(),
    }
}

/// Gives a key of the table a value of its type; in a table of tables a key of one of them.
fn change_a_key(choices: &mut Choices<'_>, table: &str, value: &mut Value) {
    let properties = properties_of(&schema()["$defs"][table]);
    let (name, node) = choices.of(&properties);
    let inner = target(node);
    if table == "Drive" && inner["properties"].is_object() {
        let (key, node) = choices.of(&properties_of(inner));
        if !IS_GIVEN.contains(&key.as_str()) {
            value[name][key] = of_type(choices, node, key, 0);
        }
    } else if !IS_GIVEN.contains(&name.as_str()) {
        value[name] = of_type(choices, node, name, 0);
    }
}

/// What a small drive and a job have anyway.
const IS_GIVEN: [&str; 10] = [
    "name",
    "user_bytes",
    "mapping_unit_bytes",
    "pages_per_block",
    "blocks_per_plane",
    "page_bytes",
    "stage",
    "seed",
    "size_bytes",
    "clone",
];

fn properties_of(node: &Value) -> Vec<(&String, &Value)> {
    node["properties"].as_object().into_iter().flatten().collect()
}

fn of_type(choices: &mut Choices<'_>, node: &Value, name: &str, depth: u32) -> Value {
    let is_policy = node["$ref"].as_str().is_some_and(|name| name.ends_with("/PolicyChoice"));
    if is_policy {
        return policy(choices, name);
    }
    let is_optional = node["anyOf"].as_array().is_some_and(|types| types.contains(&json!({ "type": "null" })));
    if is_optional && choices.one_in(3) {
        return Value::Null;
    }
    let node = if node["type"].is_null() { target(node) } else { node };
    if let Some(constant) = node.get("const") {
        return constant.clone();
    }
    if let Some(listed) = node["enum"].as_array() {
        return choices.of(listed);
    }
    if let Some(variants) = node["oneOf"].as_array().or_else(|| node["anyOf"].as_array()) {
        let variant = choices.of(variants);
        return of_type(choices, &variant, name, depth);
    }
    let types = &node["type"];
    let is_optional = types.as_array().is_some_and(|types| types.contains(&json!("null")));
    if is_optional && choices.one_in(3) {
        return Value::Null;
    }
    let kind =
        types.as_str().or_else(|| types.as_array()?.iter().filter_map(Value::as_str).find(|kind| *kind != "null"));
    match kind {
        Some("boolean") => json!(choices.one_in(2)),
        Some("integer") => whole(choices, node, name),
        Some("number") => real(choices, node, name),
        Some("array") if depth < 4 => {
            let count = choices.below(3);
            (0..count).map(|_| of_type(choices, &node["items"], "", depth + 1)).collect()
        }
        Some("object") if depth < 4 => {
            let properties = properties_of(node).into_iter();
            let values = properties.map(|(name, node)| (name.clone(), of_type(choices, node, name, depth + 1)));
            Value::Object(values.collect())
        }
        Some("string") => node["examples"].get(0).cloned().unwrap_or_else(|| json!("j0")),
        _ => Value::Null,
    }
}

/// Mostly a value that somebody would give.
fn whole(choices: &mut Choices<'_>, node: &Value, name: &str) -> Value {
    let bound = |key: &str| node[key].as_u64();
    let power = 1u64 << choices.below(24);
    let value = match choices.below(8) {
        0 => bound("minimum").unwrap_or(0),
        1 => bound("maximum").unwrap_or(u64::from(u32::MAX)),
        2 | 3 => node["examples"][0].as_u64().unwrap_or(3),
        4 => choices.below(9),
        5 => choices.below(1 << 24),
        _ => power,
    };
    // Amounts and times that make a run long say nothing more than smaller ones.
    json!(match name {
        _ if name.ends_with("_ns") => value.min(TIME_NS_MAX),
        "channels" | "dies_per_channel" | "planes_per_die" | "devices" => value.min(4),
        "iodepth" if node["maximum"].is_null() => value.min(DEPTH_MAX),
        "bytes" if node["maximum"].is_null() => value.min(MIB),
        "write" | "read" | "trim" | "duration_seconds" => value.min(MIB),
        _ => value,
    })
}

fn real(choices: &mut Choices<'_>, node: &Value, name: &str) -> Value {
    let most = node["maximum"].as_f64();
    let value = match choices.below(7) {
        0 => node["minimum"].as_f64().unwrap_or(0.0),
        1 => most.unwrap_or(100.0),
        2 | 3 => node["examples"][0].as_f64().unwrap_or(50.0),
        4 => most.unwrap_or(100.0) * choices.below(101) as f64 / 100.0,
        5 => 1e-3,
        _ => choices.below(1000) as f64,
    };
    // A job that is limited by time alone issues millions of requests if each takes a nanosecond.
    json!(if name == "command_us" { value.max(COMMAND_US_MIN) } else { value })
}
