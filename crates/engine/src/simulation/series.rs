//! The time series of a run: the ledger at regular steps of host bytes, with a bounded number of points.

use super::drive::SimulatedDrive;
use crate::ledger::Ledger;
use schemars::JsonSchema;
use serde::Serialize;

/// Columns of equal length: cumulative counters at the end of each step.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Columns {
    pub host_written_bytes: Vec<u64>,
    pub stage: Vec<u32>,
    pub programmed_units_host: Vec<u64>,
    pub programmed_units_gc: Vec<u64>,
    pub programmed_units_wear_leveling: Vec<u64>,
    pub programmed_units_metadata: Vec<u64>,
    pub programmed_units_parity: Vec<u64>,
    pub programmed_units_padding: Vec<u64>,
    pub programmed_units_slc_fold: Vec<u64>,
    /// Absent for a run without any.
    #[serde(skip_serializing_if = "is_all_zero")]
    pub programmed_units_journal: Vec<u64>,
    pub free_erase_units: Vec<u32>,
    pub effective_over_provisioning: Vec<Option<f64>>,
}

fn is_all_zero(column: &[u64]) -> bool {
    column.iter().all(|&count| count == 0)
}

/// Applies the same operation to every column, so that they remain of one length.
macro_rules! each_column {
    ($columns:expr, $column:ident => $action:expr) => {{
        let columns = $columns;
        {
            let $column = &mut columns.host_written_bytes;
            $action;
        }
        {
            let $column = &mut columns.stage;
            $action;
        }
        {
            let $column = &mut columns.programmed_units_host;
            $action;
        }
        {
            let $column = &mut columns.programmed_units_gc;
            $action;
        }
        {
            let $column = &mut columns.programmed_units_wear_leveling;
            $action;
        }
        {
            let $column = &mut columns.programmed_units_metadata;
            $action;
        }
        {
            let $column = &mut columns.programmed_units_parity;
            $action;
        }
        {
            let $column = &mut columns.programmed_units_padding;
            $action;
        }
        {
            let $column = &mut columns.programmed_units_slc_fold;
            $action;
        }
        {
            let $column = &mut columns.programmed_units_journal;
            $action;
        }
        {
            let $column = &mut columns.free_erase_units;
            $action;
        }
        {
            let $column = &mut columns.effective_over_provisioning;
            $action;
        }
    }};
}

#[derive(Clone, Debug)]
pub struct Series {
    columns: Columns,
    points_max: usize,
    step_bytes: u64,
    next_at_bytes: u64,
}

impl Series {
    /// Begins with a point every 1/256 of the drive's capacity, and thins out as the run continues.
    pub fn new(points_max: u32, user_bytes: u64) -> Self {
        let step_bytes = (user_bytes / 256).max(1);
        let points_max = (points_max as usize).max(16);
        Self { columns: Columns::default(), points_max, step_bytes, next_at_bytes: 0 }
    }

    /// Adds a point when the next step has been reached.
    #[inline]
    pub fn note(&mut self, stage: u32, drive: &dyn SimulatedDrive) {
        if drive.ledger().host_written_bytes >= self.next_at_bytes {
            self.take(stage, drive);
        }
    }

    /// The end of a stage is always a point.
    pub fn end_stage(&mut self, stage: u32, drive: &dyn SimulatedDrive) {
        if self.columns.host_written_bytes.last() != Some(&drive.ledger().host_written_bytes) {
            self.take(stage, drive);
        }
    }

    pub fn into_columns(self) -> Columns {
        self.columns
    }

    fn take(&mut self, stage: u32, drive: &dyn SimulatedDrive) {
        if self.columns.stage.len() >= self.points_max {
            self.thin();
        }
        let Ledger { host_written_bytes, programmed_units: programmed, .. } = *drive.ledger();
        let columns = &mut self.columns;
        columns.host_written_bytes.push(host_written_bytes);
        columns.stage.push(stage);
        columns.programmed_units_host.push(programmed.host);
        columns.programmed_units_gc.push(programmed.gc);
        columns.programmed_units_wear_leveling.push(programmed.wear_leveling);
        columns.programmed_units_metadata.push(programmed.metadata);
        columns.programmed_units_parity.push(programmed.parity);
        columns.programmed_units_padding.push(programmed.padding);
        columns.programmed_units_slc_fold.push(programmed.slc_fold);
        columns.programmed_units_journal.push(programmed.journal);
        columns.free_erase_units.push(drive.free_erase_units());
        columns.effective_over_provisioning.push(drive.effective_over_provisioning());
        self.next_at_bytes = (host_written_bytes / self.step_bytes + 1) * self.step_bytes;
    }

    /// Drops every second point, but never the last one of a stage.
    fn thin(&mut self) {
        let stage = &self.columns.stage;
        let keep: Vec<bool> =
            (0..stage.len()).map(|at| at % 2 == 0 || stage.get(at + 1).is_none_or(|&next| next != stage[at])).collect();
        each_column!(&mut self.columns, column => {
            let mut kept = keep.iter();
            column.retain(|_| *kept.next().expect("one flag a point"));
        });
        self.step_bytes *= 2;
    }
}
