//! No request waits for ever, whatever the others do.

use super::drives::*;
use serde_json::json;

/// Without a buffer a write waits for others to fill its program, of four units here; but not for as long as another job
/// reads.
#[test]
fn a_write_that_nobody_joins_is_programmed_while_others_read() {
    let mut four_units = drive(2);
    four_units["nand"]["page_bytes"] = json!(4 * UNIT);
    let reads = job(&four_units, "read", u64::MAX, json!({ "stage": 1, "iodepth": 4, "runtime_ns": 1_000_000_000 }));
    let writes = job(&four_units, "write", 3, json!({ "stage": 1 }));
    let jobs = run(&four_units, vec![fill(&four_units), reads, writes]).jobs;
    let written = jobs[2].timing.as_ref().unwrap();
    // 100 ms until one of four reads ends, and the program of four units behind them and those that follow.
    let longest_ns = 100_000_000 + 4 * 5_120 + 700_000 + 3 * 4 * READ_NS;
    assert!((100_000_000..longest_ns).contains(&written.write.max_ns.unwrap()), "{:?}", written.write.max_ns);
    assert!(took_ns(&jobs[2]) < 3 * longest_ns);
}
