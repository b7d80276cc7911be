//! Where requests fall, one distribution a file. A scattered one draws blocks (`Blocks`), a sequential one goes through
//! bytes (`Place`); `Places` is the choice among them, made once when a stream is built.

pub mod normal;
pub mod pareto;
pub mod random_map;
pub mod sequential;
pub mod uniform;
pub mod zipf;
pub mod zoned;

use super::place::{Place, Scattered};
use crate::random::Random;

#[derive(Clone, Debug)]
pub enum Places {
    Sequential(sequential::Sequential),
    Uniform(Scattered<uniform::Uniform>),
    RandomMap(Scattered<random_map::RandomMap>),
    Zipf(Scattered<zipf::Zipf>),
    Pareto(Scattered<pareto::Pareto>),
    Normal(Scattered<normal::Normal>),
    Zoned(Scattered<zoned::Zoned>),
}

impl Places {
    pub fn start_over(&mut self, random: &mut Random) {
        match self {
            Places::Sequential(places) => places.start_over(random),
            Places::Uniform(places) => places.start_over(random),
            Places::RandomMap(places) => places.start_over(random),
            Places::Zipf(places) => places.start_over(random),
            Places::Pareto(places) => places.start_over(random),
            Places::Normal(places) => places.start_over(random),
            Places::Zoned(places) => places.start_over(random),
        }
    }
}
