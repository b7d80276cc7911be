//! Reclaim groups on the clock: what is written to one group occupies none of the other's dies.

use super::experiment::*;
use serde_json::json;
use ssdlab_engine::ledger::Cause;
use ssdlab_engine::simulation::{Outcome, start};
use ssdlab_engine::specification::drive::{Drive, PolicyChoice};
use ssdlab_engine::specification::job::{BlockSize, Direction, PerDirection};
use ssdlab_engine::specification::{Job, Specification, Until};
use ssdlab_engine::timing::decision::Decision;
use ssdlab_engine::timing::flash::Flash;
use ssdlab_engine::units::{EraseUnit, Ppn};

/// Handles in as many reclaim groups.
pub fn handles(identifiers: u8, reclaim_groups: u8) -> PolicyChoice {
    let choice = json!({ "name": "host-streams", "identifiers": identifiers, "reclaim_groups": reclaim_groups });
    serde_json::from_value(choice).unwrap()
}

/// Four dies on as many channels, so that two groups share nothing in the flash.
fn grouped() -> Drive {
    let mut drive = drive(Shape { dies_per_channel: 1, blocks: 96, pages: 8, ..SMALL });
    drive.ftl.placement = handles(2, 2);
    drive.write_buffer.bytes = 64 * UNIT;
    drive
}

/// By hand: erase units belong to the groups in turn, and their program groups go round the group's dies.
#[test]
fn the_groups_have_the_dies_one_behind_another() {
    let drive = grouped();
    let (dies, groups) = (drive.nand.channels * drive.nand.dies_per_channel, 2);
    let units_per_group =
        drive.nand.page_bytes / UNIT as u32 * drive.nand.planes_per_die * drive.nand.pages_per_program;
    let programs_per_erase_unit = drive.nand.pages_per_block / drive.nand.pages_per_program * (dies / groups);
    for erase_unit in 0..4_u32 {
        for program in 0..programs_per_erase_unit {
            let mut flash = Flash::new(&drive.nand, UNIT as u32, drive.ftl.erase_unit).in_reclaim_groups(groups);
            let first = (erase_unit * programs_per_erase_unit + program) * units_per_group;
            let programs: Vec<Decision> =
                (first..first + units_per_group).map(|ppn| Decision::Program(Ppn(ppn), Cause::Host)).collect();
            flash.carry_out(0, &programs, 0);
            let mut busy = vec![0; dies as usize];
            flash.tell_load(0, &mut busy);
            let expected = (erase_unit % groups * (dies / groups) + program % (dies / groups)) as usize;
            let loaded: Vec<usize> = (0..dies as usize).filter(|&die| busy[die] > 0).collect();
            assert_eq!(loaded, [expected], "erase unit {erase_unit}, program {program}");
        }
        let mut flash = Flash::new(&drive.nand, UNIT as u32, drive.ftl.erase_unit).in_reclaim_groups(groups);
        flash.carry_out(0, &[Decision::Erase(EraseUnit(erase_unit))], 0);
        let mut busy = vec![0; dies as usize];
        flash.tell_load(0, &mut busy);
        let loaded: Vec<u32> = (0..dies).filter(|&die| busy[die as usize] > 0).collect();
        assert_eq!(loaded, if erase_unit % 2 == 0 { [0, 1] } else { [2, 3] });
    }
}

/// A tenant of half the drive; identifiers of the first handle are those of the groups.
fn tenant(drive: &Drive, name: &str, half: u64, group: u32, stage: u32, direction: Direction) -> Job {
    let size = || vec![BlockSize { bytes: UNIT as u32, percent: 100.0 }];
    Job {
        name: name.into(),
        stage,
        direction,
        stream_id: Some(group),
        offset_bytes: half * drive.ftl.user_bytes / 2 / UNIT * UNIT,
        size_bytes: drive.ftl.user_bytes / 2 / UNIT * UNIT,
        io_bytes: 2 * drive.ftl.user_bytes,
        sequential: false,
        block_sizes: PerDirection { read: size(), write: size(), trim: size() },
        seed: 3 + half,
        ..Job::default()
    }
}

fn outcome(drive: &Drive, jobs: Vec<Job>) -> Outcome {
    let specification = Specification {
        drive: drive.clone(),
        jobs,
        seed: 1,
        timed: true,
        until: Until::Job,
        series_points_max: 100,
        interval_ns: None,
    };
    let mut run = start(&specification).unwrap_or_else(|error| panic!("{error}"));
    while !run.advance(1 << 20).unwrap().is_finished {}
    run.finish()
}

/// One tenant reads, the other writes at random and collects garbage: on a group of its own the reader has to the
/// nanosecond what it has alone, and on the writer's it waits.
#[test]
fn a_reader_on_its_own_group_does_not_feel_the_writer() {
    let drive = grouped();
    let reader_of = |group: u32, has_writer: bool| {
        let fill = |half, group| Job {
            sequential: true,
            io_bytes: drive.ftl.user_bytes / 2 / UNIT * UNIT,
            ..tenant(&drive, "fill", half, group, half as u32, Direction::Write)
        };
        // The writer's data is in group 1.
        let mut jobs = vec![fill(0, group), fill(1, 1)];
        jobs.push(Job { iodepth: 1, ..tenant(&drive, "reader", 0, group, 2, Direction::Read) });
        if has_writer {
            jobs.push(Job { iodepth: 4, ..tenant(&drive, "writer", 1, 1, 2, Direction::Write) });
        }
        let outcome = outcome(&drive, jobs);
        let reader = outcome.jobs.iter().find(|job| job.name == "reader").unwrap();
        (reader.timing.clone().unwrap().read, outcome)
    };
    let (alone, _) = reader_of(0, false);
    let (apart, outcome) = reader_of(0, true);
    assert!(outcome.ledger.programmed_units.gc > 0, "{:?}", outcome.ledger);
    let groups = outcome.reclaim_groups.unwrap();
    assert!(groups[1].erased > 0 && groups[0].erased == 0, "{groups:?}");
    assert_eq!(apart, alone);
    let (together, _) = reader_of(1, true);
    let (together, alone) = (together.max_ns.unwrap(), alone.max_ns.unwrap());
    assert!(together > 3 * alone, "{together} and {alone} ns");
}
