//! Every class has its own open erase unit and its own spare area.
//!
//! Garbage is collected in each class as on a separate drive, with spare area in proportion to the square root of its
//! share of the writes times its share of the space, which minimises write amplification. Effective under skew, where
//! an erase unit of the hot class is nearly empty when it is collected. Classes are learned or, where the host declares
//! them (namespaces, a partition for the log), given as boundaries in the address space.

use super::frequency::Classes;
use super::{PlacementPolicy, PoolState, PoolView, Resident, STREAMS_MAX};
use crate::error::SpecificationError;
use crate::policies::registry::Named;
use crate::policies::victim::Pool;
use crate::units::{Lpn, StreamId};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Number of learned classes, from 2 to 16. Without effect if borders are given.
    pub classes: u8,
    /// The share of the host's writes assigned to a wrong class, 0 to 1. Without effect if borders are given.
    pub error_share: f64,
    /// Shares of the address space, ascending, at which one class ends and the next begins; empty: classes are learned.
    pub borders: Vec<f64>,
}

impl Default for Config {
    fn default() -> Self {
        Self { classes: 2, error_share: 0.0, borders: Vec::new() }
    }
}

enum Assignment {
    Learned(Classes),
    /// The first LPN of each class but the first.
    Borders(Vec<Lpn>),
}

/// See the file's description.
pub struct ClassSpare {
    assignment: Assignment,
}

impl Named for ClassSpare {
    const NAME: &'static str = "class-spare";
    const SUMMARY: &'static str = "an open erase unit and a spare area of its own for each class of data";
    const SOURCE: &'static str = "Desnoyers 2014; Stoica and Ailamaki 2013";
    type Config = Config;
}

impl ClassSpare {
    pub(super) fn new(config: Config, user_units: u32) -> Result<Self, SpecificationError> {
        if config.borders.is_empty() {
            let classes = Classes::new("ftl.placement.classes", config.classes, user_units, STREAMS_MAX)?;
            let classes = classes.with_errors("ftl.placement.error_share", config.error_share)?;
            return Ok(Self { assignment: Assignment::Learned(classes) });
        }
        let rising = config.borders.windows(2).all(|pair| pair[0] < pair[1]);
        let inside = config.borders.iter().all(|&border| border > 0.0 && border < 1.0);
        if !rising || !inside || config.borders.len() >= STREAMS_MAX {
            let allowed =
                format!("up to {} rising shares of the address space, each above 0 and below 1", STREAMS_MAX - 1);
            return Err(SpecificationError::new("ftl.placement.borders", format!("{:?}", config.borders), allowed));
        }
        let lpn = |share: &f64| Lpn((f64::from(user_units) * share).round() as u32);
        Ok(Self { assignment: Assignment::Borders(config.borders.iter().map(lpn).collect()) })
    }
}

impl PlacementPolicy for ClassSpare {
    fn looks_at_old(&self) -> bool {
        true
    }

    fn is_pooled(&self) -> bool {
        true
    }

    fn streams(&self) -> u8 {
        match &self.assignment {
            Assignment::Learned(classes) => classes.count(),
            Assignment::Borders(borders) => borders.len() as u8 + 1,
        }
    }

    fn stream_name(&self, stream: StreamId) -> String {
        match &self.assignment {
            Assignment::Learned(classes) => classes.name(stream.0),
            Assignment::Borders(_) => format!("part {}", stream.0 + 1),
        }
    }

    #[inline(always)]
    fn host_stream(&self, lpn: Lpn, _identifier: u8, overwritten: Option<Resident>) -> StreamId {
        match (&self.assignment, overwritten) {
            (Assignment::Borders(borders), _) => StreamId(borders.iter().map(|&border| u8::from(lpn >= border)).sum()),
            (Assignment::Learned(classes), _) => StreamId(classes.of_write(lpn, overwritten)),
        }
    }

    fn gc_stream(&self, victim: Resident) -> StreamId {
        match &self.assignment {
            Assignment::Borders(_) => victim.stream,
            Assignment::Learned(classes) => StreamId(classes.after_survival(victim.stream.0, victim)),
        }
    }

    /// The pool that exceeds its part the most.
    fn pool_to_collect(&self, view: &PoolView<'_>) -> Pool {
        let units = f64::from(view.data_units_per_erase_unit);
        let physical: f64 = view.pools.iter().map(|pool| f64::from(pool.erase_units) * units).sum();
        let live: f64 = view.pools.iter().map(|pool| pool.live_units as f64).sum();
        // The square root of write share times space share; common factors cancel.
        let weight = |pool: &PoolState| (pool.recent_units as f64 * pool.live_units as f64).sqrt();
        let weights: f64 = view.pools.iter().map(weight).sum();
        let mut furthest: Option<(f64, usize)> = None;
        for (stream, pool) in view.pools.iter().enumerate() {
            let spare = if weights > 0.0 { (physical - live) * weight(pool) / weights } else { 0.0 };
            let above = f64::from(pool.erase_units) * units - pool.live_units as f64 - spare;
            if pool.erase_units > 1 && furthest.is_none_or(|(most, _)| above > most) {
                furthest = Some((above, stream));
            }
        }
        furthest.map_or(Pool::All, |(_, stream)| Pool::Only(StreamId(stream as u8)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spare_area_goes_by_the_square_root_of_writes_times_space() {
        let policy = ClassSpare::new(Config { borders: vec![0.2], ..Config::default() }, 1000).unwrap();
        // 80 % of the writes on 20 % of the space: sqrt(0.8 x 0.2) on both sides, so half of the spare area each.
        let pool = |erase_units, live_units, recent_units| PoolState { erase_units, live_units, recent_units };
        let collected = |hot, cold| {
            let pools = [pool(hot, 200, 800), pool(cold, 800, 200)];
            policy.pool_to_collect(&PoolView { pools: &pools, data_units_per_erase_unit: 10 })
        };
        // 140 erase units of 10 hold 1000 live units: 400 spare, 200 for each class: 40 and 100 erase units.
        assert_eq!(collected(41, 99), Pool::Only(StreamId(0)));
        assert_eq!(collected(39, 101), Pool::Only(StreamId(1)));
    }

    #[test]
    fn borders_must_rise() {
        assert!(ClassSpare::new(Config { borders: vec![0.5, 0.2], ..Config::default() }, 1000).is_err());
    }
}
