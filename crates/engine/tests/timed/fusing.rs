//! Does it show anywhere that chains of operations share an event? The same drive with an event for every operation
//! must complete every request at the same nanosecond, and the front of a plain drive, where it is one, too. What a drive
//! has and never uses must change nothing.

use super::experiment::*;
use ssdlab_engine::ftl::{Ftl, Plain};

use ssdlab_engine::policies::die_choice;
use ssdlab_engine::random::Random;
use ssdlab_engine::request::{Operation, Request};
use ssdlab_engine::specification::drive::{Drive, EraseUnitKind, PageTimes, reclaim_groups_of};
use ssdlab_engine::timing::breakdown::Parts;
use ssdlab_engine::timing::drive::TimedDrive;
use ssdlab_engine::timing::flash::Flash;
use ssdlab_engine::timing::front::{Completion, Front, FrontEnd, Intake};
use ssdlab_engine::timing::host::{Client, Host};
use ssdlab_engine::timing::plain::PlainFront;
use ssdlab_engine::timing::recorder::Recorder;

type TimedFtl = Ftl<Plain, Recorder>;

/// A mix of requests, and when each was complete.
struct Mix {
    random: Random,
    user_units: u64,
    reads_of_ten: u64,
    left: u64,
    completions: Vec<(Completion, Parts)>,
}

impl Client for Mix {
    fn draw(&mut self, _job: u32, out: &mut Vec<Request>, count_max: usize) {
        let count = self.left.min(count_max as u64);
        self.left -= count;
        for _ in 0..count {
            let operation = match self.random.below(10) {
                dice if dice < self.reads_of_ten => Operation::Read,
                9 => Operation::Trim,
                _ => Operation::Write,
            };
            let length_units = 1 + self.random.below(3);
            let offset_bytes = self.random.below(self.user_units - length_units) * UNIT;
            // Some writes end within a unit, the rest of which is read first.
            let is_in_part = operation == Operation::Write && self.random.below(8) == 0;
            let length_bytes = length_units * UNIT - if is_in_part { UNIT / 2 } else { 0 };
            out.push(Request::new(operation, offset_bytes, length_bytes as u32));
        }
    }

    fn is_over(&self, _job: u32, _now_ns: u64) -> bool {
        false
    }

    fn completed(&mut self, completion: Completion, parts: &Parts) {
        self.completions.push((completion, *parts));
    }
}

pub struct Run<'a> {
    pub drive: &'a Drive,
    pub is_fused: bool,
    pub reads_of_ten: u64,
    pub depth: u32,
    pub command_ns: u64,
    pub buffer_units: u32,
    pub commands_per_second_max: u64,
    pub seed: u64,
}

impl<'a> Run<'a> {
    pub fn of(drive: &'a Drive) -> Self {
        Self {
            drive,
            is_fused: true,
            reads_of_ten: 0,
            depth: 24,
            command_ns: 5_000,
            buffer_units: 0,
            commands_per_second_max: 0,
            seed: 3,
        }
    }
}

impl Run<'_> {
    pub fn run(self) -> (Vec<(Completion, Parts)>, f64) {
        let mut ftl = self.ftl();
        let front = self.front(&ftl);
        self.through(front, &mut ftl, |front, now_ns| front.flash().utilization(now_ns))
    }

    /// The same through the front of a plain drive, if it is one.
    fn run_plain(self) -> Option<(Vec<(Completion, Parts)>, f64)> {
        let mut ftl = self.ftl();
        let plain = PlainFront::of(&self.front(&ftl))?;
        Some(self.through(plain, &mut ftl, PlainFront::utilization))
    }

    fn ftl(&self) -> TimedFtl {
        Ftl::new(self.drive, Recorder::default(), 1).unwrap()
    }

    fn front(&self, ftl: &TimedFtl) -> Front {
        let flash = Flash::new(&self.drive.nand, UNIT as u32, self.drive.ftl.erase_unit)
            .in_reclaim_groups(reclaim_groups_of(&self.drive.ftl.placement))
            .with_power_loss_protection(self.drive.write_buffer.power_loss_protection)
            .with_program_issue(self.drive.controller.program_us)
            .below(ftl);
        let flash = if self.is_fused { flash } else { flash.without_fusing() };
        let mut front_end = FrontEnd::of(self.drive).unwrap();
        front_end.controller.command_us = self.command_ns as f64 / 1000.0;
        front_end.controller.commands_per_second_max = self.commands_per_second_max;
        front_end.buffer.bytes = u64::from(self.buffer_units) * UNIT;
        Front::new(flash, &front_end)
    }

    fn through<F>(self, front: F, ftl: &mut TimedFtl, busy: impl Fn(&F, u64) -> f64) -> (Vec<(Completion, Parts)>, f64)
    where
        F: for<'d> Intake<Drives<'d> = dyn TimedDrive + 'd>,
    {
        let mut host = Host::before(front);
        let user_units = self.drive.ftl.user_bytes / UNIT;
        let random = Random::new(self.seed);
        let reads_of_ten = self.reads_of_ten;
        let mut client = Mix { random, user_units, reads_of_ten: 0, left: user_units, completions: Vec::new() };
        for reads in [0, reads_of_ten] {
            (client.reads_of_ten, client.left) = (reads, user_units);
            host.start(0, self.depth, ftl, &mut client).unwrap();
            while host.advance(64, ftl, &mut client).unwrap() {}
            host.end_stage();
        }
        let busy = busy(host.front(), host.now_ns());
        (client.completions, busy)
    }
}

/// How long the requests of a kind took, in a mix with so many reads of ten, during garbage collection.
pub fn latencies(drive: &Drive, reads_of_ten: u64, operation: Operation) -> Vec<u64> {
    let run = Run { reads_of_ten, buffer_units: 64, ..Run::of(drive) };
    let (completions, _) = run.run();
    let wanted = completions.iter().filter(|(completion, _)| completion.operation == operation);
    wanted.map(|(completion, _)| completion.completed_ns - completion.issued_ns).collect()
}

#[test]
fn fused_and_unfused_agree_on_every_completion() {
    let own_channels = Shape { dies_per_channel: 1, blocks: 96, pages: 8, ..SMALL };
    let pages_of_one_unit = Shape { page_bytes: 4096, planes: 1, pages: 32, ..own_channels };
    let of_blocks = |shape, die_choice: &str| {
        let mut drive = drive(shape);
        drive.ftl.erase_unit = EraseUnitKind::Block;
        drive.ftl.die_choice.name = die_choice.into();
        drive
    };
    let mut drives = vec![drive(own_channels), drive(pages_of_one_unit)];
    for shape in [own_channels, pages_of_one_unit] {
        drives.extend(die_choice::descriptions().iter().map(|choice| of_blocks(shape, choice.name)));
    }
    let shared_channels = drive(Shape { dies_per_channel: 2, ..own_channels });
    drives.extend([&drives[1], &drives[2], &shared_channels].map(|plain| {
        let mut drive = plain.clone();
        drive.nand.suspend = true;
        (drive.nand.program_suspend_us, drive.nand.erase_suspend_us, drive.nand.resume_us) = (30.0, 100.0, 7.0);
        drive.nand.suspend_repeats_us = 150.0;
        drive.nand.suspends_per_operation_max = 3;
        drive
    }));
    drives.extend([&drives[0], &drives[2]].map(|plain| {
        let mut drive = plain.clone();
        drive.nand.erases_at_once = 4;
        drive
    }));
    let plain = [&drives[0], &drives[1], &drives[2], &shared_channels].map(|plain| {
        let mut drive = plain.clone();
        drive.write_buffer.power_loss_protection = false;
        drive.nand.suspend = true;
        drive
    });
    drives.extend(plain);
    drives.extend([&drives[1], &drives[2], &shared_channels].map(|plain| {
        let mut drive = plain.clone();
        drive.nand.copy_pages_together = 6;
        (drive.nand.erase_by_plane, drive.nand.erases_at_once) = (true, 3);
        (drive.nand.background_us, drive.nand.background_per_second) = (2000.0, 20.0);
        drive.nand.suspend = true;
        (drive.nand.program_suspend_us, drive.nand.suspend_spread_us) = (30.0, 50.0);
        (drive.write_buffer.resume_bytes, drive.write_buffer.close_bytes) = (16 * UNIT, 48 * UNIT);
        drive.write_buffer.closed_per_second = 5000;
        drive.write_buffer.programs_first = true;
        (drive.write_buffer.coalesce, drive.write_buffer.free_at_program) = (true, true);
        drive.controller.program_us = 10.0;
        drive.write_buffer.gc_admission_share = 0.5;
        drive
    }));
    let of_page_types = [&drives[1], &drives[2], &shared_channels].map(|plain| {
        let mut drive = plain.clone();
        drive.nand.read_us = PageTimes::ByPage(vec![40.0, 60.0, 90.0]);
        drive.nand.program_us = PageTimes::ByPage(vec![300.0, 600.0, 1500.0]);
        drive
    });
    drives.extend(of_page_types);
    let mut volatile = drives[1].clone();
    volatile.write_buffer.power_loss_protection = false;
    volatile.write_buffer.gc_admission_share = 0.5;
    drives.push(volatile);
    let of_groups = [&drives[0], &shared_channels].map(|plain| {
        let mut drive = plain.clone();
        drive.ftl.placement = super::reclaim_groups::handles(2, 2);
        drive
    });
    drives.extend(of_groups);
    drives.extend([&drives[1], &drives[2]].map(|plain| {
        let mut drive = plain.clone();
        let parameters = [("units", 96), ("units_at_a_time", 8)].map(|(name, units)| (name.into(), units.into()));
        drive.ftl.gc_throttling.name = "in-batches".into();
        drive.ftl.gc_throttling.parameters = parameters.into_iter().collect();
        drive.write_buffer.paced = true;
        (drive.controller.delayed_share, drive.controller.delay_us) = (0.1, 2.0);
        drive
    }));
    let mut plain_runs = 0;
    for drive in &drives {
        for (reads_of_ten, buffer_units) in [(0, 0), (2, 0), (7, 0), (5, 64)] {
            let user_units = (drive.ftl.user_bytes / UNIT) as u32;
            let run = |is_fused| Run { is_fused, reads_of_ten, buffer_units, seed: 3 + reads_of_ten, ..Run::of(drive) };
            let (fused, unfused) = (run(true).run(), run(false).run());
            if let Some(plain) = run(true).run_plain() {
                assert!(plain == fused, "a plain drive, {reads_of_ten} reads of ten: {:?}", drive.ftl);
                plain_runs += 1;
            }
            assert!(fused.0.len() as u64 == 2 * u64::from(user_units), "{} completions", fused.0.len());
            let first = fused.0.iter().zip(&unfused.0).position(|(fused, unfused)| fused != unfused);
            assert_eq!(
                first,
                None,
                "{:?}, {reads_of_ten} reads of ten, the first that differs",
                (&drive.nand, &drive.ftl)
            );
            assert_eq!(fused, unfused);
            assert!(fused.1 > 0.1 && fused.1 <= 1.0, "dies busy for {}", fused.1);
        }
    }
    assert!(plain_runs >= 12, "{plain_runs} of plain drives");
}

#[test]
fn a_write_waits_while_the_controller_hands_on_programs() {
    let mut drive = drive(Shape { dies_per_channel: 1, blocks: 96, pages: 32, page_bytes: 4096, planes: 1, ..SMALL });
    // Longer than a program takes: the controller is what all wait for, once for each unit while no garbage is
    // collected.
    drive.controller.program_us = 1000.0;
    let run = Run { buffer_units: 64, ..Run::of(&drive) };
    let (completions, _) = run.run();
    let before_any_copy = &completions[..(drive.ftl.user_bytes / UNIT) as usize / 4];
    let writes = before_any_copy.iter().filter(|(completion, _)| completion.operation == Operation::Write);
    let units: u64 = writes.map(|(completion, _)| u64::from(completion.length_bytes).div_ceil(UNIT)).sum();
    let took_ns = before_any_copy.last().expect("there are some").0.completed_ns;
    near(took_ns as f64, units as f64 * 1e6, 0.02);
}

#[test]
fn what_is_never_used_changes_nothing() {
    let own_channels = Shape { dies_per_channel: 1, blocks: 96, pages: 8, ..SMALL };
    for shape in [own_channels, Shape { dies_per_channel: 2, ..own_channels }] {
        for is_protected in [true, false] {
            let mut plain = drive(shape);
            plain.write_buffer.power_loss_protection = is_protected;
            let mut suspends = plain.clone();
            suspends.nand.suspend = true;
            // Never worth it: every operation ends before.
            (suspends.nand.program_suspend_us, suspends.nand.erase_suspend_us) = (1e6, 1e6);
            for reads_of_ten in [0, 5] {
                let run = |drive, commands_per_second_max| {
                    let run = Run { reads_of_ten, commands_per_second_max, seed: 5, ..Run::of(drive) };
                    run.run()
                };
                let expected = run(&plain, 0);
                // Limits that nobody reaches lead past the shortest way.
                let way_around = run(&plain, u64::MAX);
                assert!(way_around == expected, "limit of commands, {reads_of_ten} reads of ten");
                assert!(run(&suspends, u64::MAX) == expected, "suspends, {reads_of_ten} reads of ten");
            }
        }
    }
}
