"""The article's tables of capacity and price, computed with the code of `ssdlab price`."""

from ssdlab.experiments.studies.context import Context
from ssdlab.experiments.studies.contract import Row, StudyResult, Table, published
from ssdlab.experiments.studies.spare_area_sandforce.drives import FOLDER
from ssdlab.simulator.drives import load, resolve
from ssdlab.theory.price import BYTES_PER_GIB, DEFINITIONS, Offer, rounded

_GB = 10**9
_DRIVES = {
    "OCZ Agility 2 (28% OP)": "agility2-100gb",
    "OCZ Agility 2 (13% OP)": "agility2-120gb",
    "Corsair Nova V128": "nova-v128",
    "Crucial RealSSD C300": "c300-128gb",
    "Intel X25-M G2": "x25m-g2-160gb",
}
# GB sold per 64 GiB of flash, by percentage of spare area.
_SOLD_GB_PER_64_GIB = {"28": 50, "13": 60}


def run(_context: Context) -> StudyResult:
    """Computes the tables from flash size, sold capacity and price, without a simulation."""
    capacities = [
        Row(
            f"{row['total_flash_gb']} GiB of flash with {op} %: formatted",
            float(row[f"formatted_gb_{op}pct"]),
            float(rounded(_offer(int(row["total_flash_gb"]), sold).formatted_gib, 1)),
            "GiB",
            tolerance=0.0,
            is_input=True,
            group="Capacities, to the printed digit",
        )
        for row in published(FOLDER / "capacity.csv")
        for op, sold in _SOLD_GB_PER_64_GIB.items()
    ]
    prices = []
    for row, name in ((row, _DRIVES[row["drive"]]) for row in published(FOLDER / "price.csv")):
        drive = load(name)
        capacity = resolve(drive).capacity
        offer = Offer(
            row["drive"], capacity.flash_bytes, capacity.user_bytes, capacity.sold_bytes, drive.market.price_usd
        )
        for what, key, value, note in (
            ("price of a GiB of flash", "usd_per_nand_gb", offer.per_flash_gib, _misprint(row["drive"])),
            ("price of a usable GiB", "usd_per_user_gb", offer.per_formatted_gib, ""),
        ):
            prices.append(
                Row(
                    f"{row['drive']}: {what}",
                    float(row[key]),
                    None if value is None else float(rounded(value, 3)),
                    "USD",
                    tolerance=0.001 if note else 0.0,
                    is_input=True,
                    group="Prices, to the printed digit",
                    note=note,
                )
            )
    first, second = (row.simulated or 0.0 for row in prices if "Agility" in row.what and "usable" in row.what)
    prices.append(
        Row(
            "usable GiB at 13 % against 28 %", 83, 100 * second / first, "%", 0.01, is_input=True, group=prices[0].group
        )
    )
    return StudyResult(
        finding=f"Going from 28 % to 13 % cuts the price of a usable GiB to {100 * second / first:.0f} %.",
        rows=[*capacities, *prices],
        tables=[Table("What the columns are", ("figure", "definition"), list(DEFINITIONS.items()))],
    )


def _offer(flash_gib: int, sold_gb_per_64_gib: int) -> Offer:
    sold_bytes = flash_gib * sold_gb_per_64_gib * _GB // 64
    return Offer("", flash_gib * BYTES_PER_GIB, sold_bytes, sold_bytes, None)


def _misprint(drive: str) -> str:
    if drive != "Corsair Nova V128":
        return ""
    return "369 / 128 is 2.8828, which rounds to 2.883; the article cut it off here and rounded everywhere else."
