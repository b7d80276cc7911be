//! Optional features of flash, as types: code compiled for plain flash contains none of them.
//!
//! `Flash` determines its kind once a call, and everything below is compiled for that kind.

pub(super) trait Kind {
    /// Whether suspension, cache registers, blocks in SLC mode or waiting erases are possible; tested at run time.
    const HAS_EXTRAS: bool;
    /// Whether only the ends of chains have events; None: tested at run time.
    const IS_FUSED: Option<bool>;
}

/// Plain flash, each die of which has a private channel.
pub(super) enum PlainFused {}
/// Plain flash with an event for every operation.
pub(super) enum PlainUnfused {}
/// Any flash.
pub(super) enum Any {}

impl Kind for PlainFused {
    const HAS_EXTRAS: bool = false;
    const IS_FUSED: Option<bool> = Some(true);
}

impl Kind for PlainUnfused {
    const HAS_EXTRAS: bool = false;
    const IS_FUSED: Option<bool> = Some(false);
}

impl Kind for Any {
    const HAS_EXTRAS: bool = true;
    const IS_FUSED: Option<bool> = None;
}

/// Calls a method for the kind of a flash.
macro_rules! for_kind {
    ($flash:ident . $method:ident ( $($argument:expr),* )) => {
        match ($flash.is_plain(), $flash.dies.is_fused) {
            (true, true) => $flash.$method::<$crate::timing::flash::kind::PlainFused>($($argument),*),
            (true, false) => $flash.$method::<$crate::timing::flash::kind::PlainUnfused>($($argument),*),
            (false, _) => $flash.$method::<$crate::timing::flash::kind::Any>($($argument),*),
        }
    };
}
pub(super) use for_kind;
