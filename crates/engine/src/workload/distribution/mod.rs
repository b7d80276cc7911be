//! Positions of requests, one distribution a file. A scattered one draws blocks (`Blocks`), a sequential one advances
//! through bytes (`Place`); `Places` is the choice among them, made once when a stream is built.

pub mod cut_map;
pub mod like_fio;
pub mod normal;
pub mod pareto;
pub mod random_map;
pub mod sequential;
pub mod strided;
pub mod uniform;
pub mod zipf;
pub mod zoned;

use super::composed::Composed;
use super::place::{Extent, Place, Scattered};
use super::sizes::Sizes;
use super::zones::Zones;
use crate::random::Random;

#[derive(Clone, Debug)]
pub enum Places {
    Sequential(sequential::Sequential),
    Strided(strided::Strided),
    Uniform(Scattered<uniform::Uniform>),
    RandomMap(Scattered<random_map::RandomMap>),
    CutMap(cut_map::CutMap),
    Zipf(Scattered<zipf::Zipf>),
    CoarseZipf(Scattered<zipf::CoarseZipf>),
    Pareto(Scattered<pareto::Pareto>),
    Normal(Scattered<normal::Normal>),
    Zoned(Scattered<zoned::Zoned>),
    ScatteredZones(Scattered<zoned::ScatteredZones>),
    LikeFio(Scattered<like_fio::LikeFio>),
    Composed(Box<Composed>),
    Zones(Box<Zones>),
}

/// Applies the same to each variant.
macro_rules! each {
    ($places:expr, $inner:ident => $does:expr) => {
        match $places {
            Places::Sequential($inner) => $does,
            Places::Strided($inner) => $does,
            Places::Uniform($inner) => $does,
            Places::RandomMap($inner) => $does,
            Places::CutMap($inner) => $does,
            Places::Zipf($inner) => $does,
            Places::CoarseZipf($inner) => $does,
            Places::Pareto($inner) => $does,
            Places::Normal($inner) => $does,
            Places::Zoned($inner) => $does,
            Places::ScatteredZones($inner) => $does,
            Places::LikeFio($inner) => $does,
            Places::Composed($inner) => $does,
            Places::Zones($inner) => $does,
        }
    };
}
pub(super) use each;

impl Place for Places {
    /// For nested positions, with a branch a request; a stream chooses once for a batch.
    fn next<S: Sizes>(&mut self, job_class: usize, sizes: &S, random: &mut Random) -> Extent {
        each!(self, places => places.next(job_class, sizes, random))
    }

    fn start_over(&mut self, random: &mut Random) {
        each!(self, places => places.start_over(random));
    }

    fn pass_is_over(&self, job_class: usize) -> bool {
        each!(self, places => places.pass_is_over(job_class))
    }
}
