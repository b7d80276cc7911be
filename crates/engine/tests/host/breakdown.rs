//! Where a request's time goes, against what one counts by hand; and that nothing of it is lost, whatever stands
//! between host and flash.

use super::drives::*;
use serde_json::{Value, json};
use ssdlab_engine::ledger::Cause;
use ssdlab_engine::simulation::{JobBreakdown, JobOutcome};
use ssdlab_engine::specification::Drive;
use ssdlab_engine::timing::breakdown::BreakdownColumns;
use ssdlab_engine::timing::decision::Decision;
use ssdlab_engine::timing::flash::Flash;
use ssdlab_engine::timing::histogram::Latency;
use ssdlab_engine::timing::service::Service;
use ssdlab_engine::units::{EraseUnit, Ppn};

const ARRAY_NS: u64 = 60_000;
const TRANSFER_NS: u64 = 5_120;

fn sum(column: &[u64]) -> u64 {
    column.iter().sum()
}

/// By part, in the order of the columns, over all requests.
fn sums(columns: &BreakdownColumns) -> [u64; 8] {
    let BreakdownColumns { queueing, controller, link, map, channel, flash, host_operations, gc } = columns;
    [queueing, controller, link, map, channel, flash, host_operations, gc].map(|column| sum(column))
}

fn breakdown(job: &JobOutcome) -> &JobBreakdown {
    job.timing.as_ref().unwrap().breakdown.as_ref().unwrap()
}

fn of_reads(job: &JobOutcome) -> [u64; 8] {
    sums(&breakdown(job).read)
}

fn of_writes(job: &JobOutcome) -> [u64; 8] {
    sums(&breakdown(job).write)
}

#[test]
fn an_unloaded_read_is_flash_channel_and_link() {
    let mut drive = drive(4);
    drive["host_link"] = json!({ "mb_s": 1000.0, "command_us": 2.0 });
    let reading = run_one(&drive, job(&drive, "read", 100, json!({})));
    assert_eq!(of_reads(&reading), [0, 0, 2_000 + UNIT, 0, TRANSFER_NS, ARRAY_NS, 0, 0].map(|each| 100 * each));
}

#[test]
fn an_unloaded_write_is_link_channel_and_flash_or_link_and_controller() {
    let mut drive = drive(4);
    drive["host_link"] = json!({ "mb_s": 1000.0, "command_us": 2.0 });
    let in_sequence = json!({ "sequential": true });
    let writing = run_one(&drive, job(&drive, "write", 10, in_sequence.clone()));
    assert_eq!(of_writes(&writing), [0, 0, 2_000 + UNIT, 0, TRANSFER_NS, 700_000, 0, 0].map(|each| 10 * each));
    drive["write_buffer"] = json!({ "bytes": 1 << 20 });
    // Into a fresh drive, whose buffer is empty.
    let writing = run(&drive, vec![job(&drive, "write", 10, in_sequence)]).jobs.pop().unwrap();
    assert_eq!(of_writes(&writing), [0, 5_000, 2_000 + UNIT, 0, 0, 0, 0, 0].map(|each| 10 * each));
}

#[test]
fn the_second_of_two_on_one_die_waits_for_the_first() {
    let drive = drive(1);
    let reading = run_one(&drive, job(&drive, "read", 100, json!({ "iodepth": 2 })));
    // All but the very first find one before them that has just begun.
    assert_eq!(of_reads(&reading), [0, 0, 0, 0, 100 * TRANSFER_NS, 100 * ARRAY_NS, 99 * READ_NS, 0]);
}

#[test]
fn the_limit_of_commands_is_queueing() {
    let mut drive = drive(4);
    drive["controller"]["commands_per_second_max"] = json!(10_000);
    let reading = run_one(&drive, job(&drive, "read", 100, json!({ "iodepth": 2 })));
    let [queueing, .., channel, flash, _, _] = of_reads(&reading);
    assert_eq!((channel, flash), (100 * TRANSFER_NS, 100 * ARRAY_NS));
    // A command every 100 us, two in flight: what a request does not use it waits.
    near(queueing as f64 / 100.0, 200_000.0 - READ_NS as f64, 0.02);
}

/// Lets time pass until then, and reads.
fn ask_at(flash: &mut Flash, at_ns: u64) -> Service {
    while flash.next_event_ns().is_some_and(|next_ns| next_ns <= at_ns) {
        flash.run(at_ns + 1, 1);
    }
    assert!(flash.finished().is_empty(), "nothing of the host ends before");
    flash.carry_out(at_ns, &[Decision::Read(Ppn(50), Cause::Host)], 7);
    while flash.finished().is_empty() {
        assert_eq!(flash.run(u64::MAX, 1), 1);
    }
    flash.finished().clear();
    flash.service()
}

/// A read that comes when an erase of garbage collection, or a program of it, has so much left.
#[test]
fn a_read_behind_gc_waits_for_what_is_left_of_it() {
    let drive: Drive = serde_json::from_value(drive(1)).unwrap();
    for is_fused in [true, false] {
        let flash = Flash::new(&drive.nand, UNIT as u32, drive.ftl.erase_unit);
        let mut flash = if is_fused { flash } else { flash.without_fusing() };
        let copy = [Decision::Read(Ppn(40), Cause::Gc), Decision::Program(Ppn(70), Cause::Gc)];
        flash.carry_out(0, &[Decision::Erase(EraseUnit(0))], 0);
        flash.carry_out(0, &copy, 0);
        flash.carry_out(0, &[Decision::Program(Ppn(100), Cause::Host)], 3);
        // What the erase of 5 ms has left when the read comes; the read passes the copy.
        let service = ask_at(&mut flash, 1_000_000);
        assert_eq!((service.gc_ns, service.array_ns, service.channel_ns), (4_000_000, ARRAY_NS, TRANSFER_NS));
        assert_eq!(service.ended_ns, 5_000_000 + READ_NS);
        // The host's program has waited since the beginning, behind the erase, that read and the copy's read.
        while flash.finished().is_empty() {
            flash.run(u64::MAX, 1);
        }
        flash.finished().clear();
        let service = flash.service();
        assert_eq!((service.queued_ns, service.is_held_by_copies), (0, false));
        let others_ns = service.ended_ns - service.gc_ns - service.array_ns - service.channel_ns;
        assert_eq!((service.gc_ns, others_ns), (5_000_000 + READ_NS, READ_NS));
        assert_eq!((service.array_ns, service.channel_ns), (700_000, TRANSFER_NS));
        // Behind it the copy's program, of which 500 us are left.
        let program_ends_ns = service.ended_ns + TRANSFER_NS + 700_000;
        let service = ask_at(&mut flash, program_ends_ns - 500_000);
        assert_eq!((service.gc_ns, service.ended_ns), (500_000, program_ends_ns + READ_NS));
    }
}

/// All features that a request can wait for, in turn.
#[test]
fn parts_add_up_to_the_latency_whatever_a_request_waits_for() {
    let mut buffered = drive(4);
    buffered["write_buffer"] = json!({ "bytes": 64 * UNIT, "power_loss_protection": false });
    buffered["host_link"] = json!({ "interface": "sata-3g", "command_us": 2.0 });
    let mut limited = buffered.clone();
    limited["write_buffer"]["bytes"] = json!(0);
    limited["controller"]["commands_per_second_max"] = json!(20_000);
    let mut by_map_pages = drive(2);
    by_map_pages["map_cache"] = json!({
        "bytes": 2 * UNIT, "entries_per_map_page": 64, "entry_bytes": 4, "eviction": "lru", "form": "page", "miss_us": 3.0,
    });
    let mut reading_ahead = limited.clone();
    reading_ahead["read_ahead"] = json!({ "window_bytes": 64 * UNIT, "segment_bytes": 16 * UNIT });
    let mut single = drive(1);
    single["ftl"]["placement"] = json!({ "name": "single" });
    for (name, drive) in [
        ("plain", drive(4)),
        ("buffered", buffered),
        ("limited", limited),
        ("by map pages", by_map_pages),
        ("reading ahead", reading_ahead),
        ("single", single),
    ] {
        let mixed = |more: Value| {
            let mut all = json!({ "stage": 1, "iodepth": 24, "read_percent": 40.0 });
            change(&mut all, &more);
            job(&drive, "read-write", 6_000, all)
        };
        let in_sequence = json!({ "direction": "read", "sequential": true, "iodepth": 4, "number_ios": 2_000 });
        let trims = json!({ "direction": "trim", "number_ios": 500, "flush_every_writes": 0 });
        let outcome = run(
            &drive,
            vec![fill(&drive), mixed(json!({ "flush_every_writes": 50 })), mixed(in_sequence), mixed(trims)],
        );
        let mut waited_for_gc = 0;
        for job in &outcome.jobs {
            let (timing, breakdown) = (job.timing.as_ref().unwrap(), breakdown(job));
            let total_ns = |latency: &Latency| latency.mean_ns.unwrap_or(0.0) * latency.count as f64;
            for (latency, columns) in
                [(&timing.read, &breakdown.read), (&timing.write, &breakdown.write), (&timing.trim, &breakdown.trim)]
            {
                assert_eq!(columns.flash.len(), latency.bins.len());
                let parts_ns: u64 = sums(columns).iter().sum();
                assert_eq!(parts_ns, total_ns(latency).round() as u64, "{name}");
                waited_for_gc += sum(&columns.gc);
            }
            let map_ns = sum(&breakdown.read.map);
            assert_eq!(map_ns > 0, name == "by map pages" && timing.read.count > 0, "{name}: {map_ns}");
        }
        assert!(waited_for_gc > 0, "{name}");
    }
}

/// Where the host writes faster than the flash takes it, a buffered write waits for what the flash does: garbage
/// collection where there is much of it, other writes where there is none.
#[test]
fn waiting_for_room_is_split_by_what_the_flash_does() {
    let mut drive = drive(4);
    drive["write_buffer"] = json!({ "bytes": 64 * UNIT });
    let all = 3 * user_bytes(&drive) / UNIT;
    let share = |more: Value| {
        let mut all = job(&drive, "write", all, json!({ "iodepth": 64 }));
        change(&mut all, &more);
        let parts = of_writes(&run_one(&drive, all));
        parts[7] as f64 / parts.iter().sum::<u64>() as f64
    };
    let (in_sequence, at_random) = (share(json!({ "sequential": true })), share(json!({})));
    // In sequence an erase of 5 ms for 32 programs of 705 us. At random, by write amplification W, a program of each W,
    // and W - 1 reads, and W erases for as many units.
    near(in_sequence, 5_000.0 / 32.0 / (5_000.0 / 32.0 + 705.12), 0.1);
    let more = json!({ "stage": 1, "iodepth": 64 });
    let waf = {
        let outcome = run(&drive, vec![fill(&drive), job(&drive, "write", all, more)]);
        let programmed = outcome.jobs[1].ledger.programmed_units;
        programmed.total() as f64 / programmed.host as f64
    };
    let cleaning_us = (waf - 1.0) * (705.12 + 65.12) + waf * 5_000.0 / 32.0;
    near(at_random, cleaning_us / (cleaning_us + 705.12), 0.1);
}
