"""What a drive file may say: its tables, keys, types, units and bounds. Not what the values mean together
(`consistency.py`), nor how a file is found and read (`loader.py`).

The keys of [nand], [ftl], [write_buffer], [controller], [parity] and [faults] are those of the engine's specification;
[identity] and [market] are for people and prices.
"""

from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, field_validator

Kind = Literal["datasheet", "measured", "fitted", "assumed"]
KINDS: tuple[Kind, ...] = get_args(Kind)
PolicyKind = Literal["victim", "placement", "wear_leveling"]
POLICY_KINDS: tuple[PolicyKind, ...] = get_args(PolicyKind)

_U32_MAX = 2**32 - 1
Count = Annotated[int, Field(ge=1, le=_U32_MAX)]
CountOrNone = Annotated[int, Field(ge=0, le=_U32_MAX)]
PositiveNumber = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Text = Annotated[str, Field(min_length=1)]


def _unit(unit: str, description: str) -> Any:
    """A required key with the unit and the words that listings show."""
    return Field(description=description, json_schema_extra={"unit": unit})


class Table(BaseModel):
    """A table of a drive file: no unknown keys, no silent conversions, no changes after reading."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    @classmethod
    def unit(cls, key: str) -> str:
        """The unit of a key, as listings show it; empty for a name or a choice."""
        extra = cls.model_fields[key].json_schema_extra
        return str(extra.get("unit", "")) if isinstance(extra, dict) else ""


class Source(Table):
    """Where a value comes from.

    `datasheet`: published by the maker. `measured`: by somebody, on the drive. `fitted`: chosen so that the model
    repeats measurements. `assumed`: by the author of the file, from what is usual.
    """

    kind: Kind
    source: Text


class Identity(Table):
    """Which product it is, for a real one."""

    maker: Text | None = Field(default=None, description="maker")
    model: Text | None = Field(default=None, description="model")
    year: Annotated[int, Field(ge=1980, le=2100)] | None = Field(default=None, description="year of its description")
    controller: Text | None = Field(default=None, description="controller")
    interface: Text | None = Field(default=None, description="host interface")


class Nand(Table):
    cell: Literal["slc", "mlc", "tlc", "qlc"] = _unit("", "bits in a cell: 1, 2, 3 or 4")
    channels: Count = _unit("channels", "buses between controller and flash")
    dies_per_channel: Count = _unit("dies", "dies on a channel")
    planes_per_die: Count = _unit("planes", "planes in a die")
    blocks_per_plane: Count = _unit("blocks", "blocks in a plane")
    pages_per_block: Count = _unit("pages", "pages in a block")
    page_bytes: Count = _unit("B", "data in a page, without its spare bytes")
    read_us: PositiveNumber = _unit("us", "from cells to page register")
    program_us: PositiveNumber = _unit("us", "from page register to cells")
    erase_us: PositiveNumber = _unit("us", "to erase a block")
    channel_mb_s: PositiveNumber = _unit("MB/s", "transfer rate of a channel, 10^6 bytes a second")
    endurance_cycles: Count = _unit("P/E cycles", "programs and erases that a block is good for")


class PolicyChoice(BaseModel):
    """A policy's name and its own parameters: `"greedy"` or `{ name = "d-choices", d = 10 }`."""

    model_config = ConfigDict(extra="allow", strict=True, frozen=True)
    name: Text

    @property
    def parameters(self) -> dict[str, Any]:
        return dict(self.model_extra or {})


class Ftl(Table):
    user_bytes: Annotated[int, Field(ge=1, le=2**63 - 1)] = _unit("B", "what the host may use")
    mapping_unit_bytes: Count = _unit("B", "what the map maps")
    erase_unit: Literal["block", "superblock"] = _unit("", "what cleaning empties and erases at once")
    victim: PolicyChoice = _unit("", "which erase unit is cleaned next")
    placement: PolicyChoice = _unit("", "which open erase unit a write goes to")
    reserve_erase_units: Count = _unit("erase units", "kept free: cleaning runs before there are fewer")
    wear_leveling: PolicyChoice = _unit("", "how erases are spread")
    spare_area: Literal["dynamic", "static"] = _unit("", "whether free and trimmed space helps cleaning")

    @field_validator(*POLICY_KINDS, mode="before")
    @classmethod
    def _short_form(cls, value: object) -> object:
        return {"name": value} if isinstance(value, str) else value


class WriteBuffer(Table):
    bytes: Annotated[int, Field(ge=0, le=_U32_MAX)] = Field(
        default=0,
        description="DRAM with power-loss protection: a write that is in it is complete; 0: none",
        json_schema_extra={"unit": "B"},
    )


class Controller(Table):
    command_us: PositiveNumber = Field(
        default=5.0,
        description="to answer a command that touches no flash, or to take a write into the buffer",
        json_schema_extra={"unit": "us"},
    )


class Parity(Table):
    units_per_stripe: CountOrNone = Field(
        default=0,
        description="one mapping unit in so many holds parity; 0: none",
        json_schema_extra={"unit": "mapping units"},
    )

    @field_validator("units_per_stripe")
    @classmethod
    def _not_one(cls, value: int) -> int:
        if value == 1:
            raise ValueError("should be 0 (none) or at least 2: with 1 every unit would hold parity")
        return value


class Faults(Table):
    factory_bad_blocks: Annotated[float, Field(ge=0, lt=1, allow_inf_nan=False)] = Field(
        default=0.0, description="share of blocks that are bad from the start", json_schema_extra={"unit": "share"}
    )
    wear_out: bool = Field(default=False, description="whether a block past its endurance fails and is retired")
    endurance_spread: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] = Field(
        default=0.0,
        description="standard deviation of endurance as a share of endurance_cycles",
        json_schema_extra={"unit": "share"},
    )


class Market(Table):
    """What the maker and the shop say about it. The price's date belongs into its source."""

    sold_bytes: Annotated[int, Field(ge=1)] | None = Field(
        default=None, description="capacity on the label", json_schema_extra={"unit": "B"}
    )
    rated_tbw: PositiveNumber | None = Field(
        default=None, description="rated endurance, 10^12 bytes of host writes", json_schema_extra={"unit": "TB"}
    )
    rated_dwpd: PositiveNumber | None = Field(
        default=None, description="rated drive writes per day", json_schema_extra={"unit": "1/day"}
    )
    rated_years: PositiveNumber | None = Field(
        default=None, description="years that the rating is for", json_schema_extra={"unit": "years"}
    )
    price_usd: PositiveNumber | None = Field(default=None, description="price", json_schema_extra={"unit": "USD"})


class DriveFile(Table):
    """A drive as its file describes it, with the source of every value that the file says."""

    name: Text
    description: Text
    identity: Identity = Identity()
    nand: Nand
    ftl: Ftl
    write_buffer: WriteBuffer = WriteBuffer()
    controller: Controller = Controller()
    parity: Parity = Parity()
    faults: Faults = Faults()
    market: Market = Market()
    sources: dict[str, Source] = {}

    def tables(self) -> dict[str, Table]:
        """The tables that hold values, in the order of listings."""
        return {name: getattr(self, name) for name in TABLES}

    def source_of(self, key: str) -> Source:
        """The source of `table.key`: its own entry, its table's `table.*`, or that of a default."""
        table, _, _ = key.partition(".")
        found = self.sources.get(key) or self.sources.get(f"{table}.*")
        return found if found is not None and self.says(key) else DEFAULT_SOURCE

    def says(self, key: str) -> bool:
        """Whether the file itself gives `table.key`, rather than leaving it to its default."""
        table, _, name = key.partition(".")
        return name in getattr(self, table).model_fields_set


TABLES: dict[str, type[Table]] = {
    "identity": Identity,
    "nand": Nand,
    "ftl": Ftl,
    "write_buffer": WriteBuffer,
    "controller": Controller,
    "parity": Parity,
    "faults": Faults,
    "market": Market,
}
DEFAULT_SOURCE = Source(kind="assumed", source="not in the file: the default of every drive file")


def keys() -> list[str]:
    """Every key that a drive file may hold, as `table.key`, and the two that stand at its top."""
    return ["name", "description", *(f"{table}.{key}" for table, model in TABLES.items() for key in model.model_fields)]
