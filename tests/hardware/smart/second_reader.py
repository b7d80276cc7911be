"""A slow and simple second parser of smartctl's text, independent of the first: line by line, by splitting at blanks.

It recognises only attribute names that identify their meaning and returns nothing for other drives. All its results
must agree with the first parser.
"""

from dataclasses import dataclass, field

MIB32, GIB = 32 * 1024 * 1024, 1024 * 1024 * 1024
HOST_UNITS = {
    "Host_Writes_32MiB": MIB32,
    "Lifetime_Writes_GiB": GIB,
    "Host_Writes_GiB": GIB,
    "Total_Writes_GiB": GIB,
    "Lifetime_Wts_Frm_Hst_GB": GIB,
}
NAND_UNITS = {
    "NAND_Writes_32MiB": MIB32,
    "NAND_Writes_1GiB": GIB,
    "Flash_Writes_GiB": GIB,
    "Lifetime_Wts_To_Flsh_GB": GIB,
}
BACKGROUND = ("FTL_Program_Page_Count", "Bckgnd_Program_Page_Cnt")


@dataclass
class Second:
    """The values found; None for values that it does not recognise."""

    model: str | None = None
    capacity_bytes: int | None = None
    hours: int | None = None
    used_percent: int | None = None
    data_units: int | None = None
    passed: bool | None = None
    raw: dict[str, int] = field(default_factory=dict)

    @property
    def host_bytes(self) -> int | None:
        if self.data_units is not None:
            return self.data_units * 1000 * 512
        found = [self.raw[name] * unit for name, unit in HOST_UNITS.items() if name in self.raw]
        if "NAND_Writes" in self.raw and "Total_LBAs_Written" in self.raw:
            found.append(self.raw["Total_LBAs_Written"] * 512)
        return max(found, default=None)

    @property
    def nand_bytes(self) -> int | None:
        if "NAND_Writes" in self.raw:
            return self.raw["NAND_Writes"] * 512
        return next((self.raw[name] * unit for name, unit in NAND_UNITS.items() if name in self.raw), None)

    @property
    def pages(self) -> tuple[int, int] | None:
        background = next((self.raw[name] for name in BACKGROUND if name in self.raw), None)
        host = self.raw.get("Host_Program_Page_Count")
        return None if host is None or background is None else (host, background)


def digits(text: str) -> int | None:
    """All digits up to the first bracket, percent sign or letter."""
    found = ""
    for letter in text.strip():
        if letter in "0123456789":
            found += letter
        elif letter.isalpha() or letter in "[%(":
            break
    return int(found) if found else None


def read(text: str) -> Second:
    """Parses one report."""
    second = Second()
    for line in text.split("\n"):
        words = line.split()
        if line.startswith(("Device Model:", "Model Number:")) and second.model is None:
            second.model = line.split(":", 1)[1].strip()
        elif line.startswith(("User Capacity:", "Total NVM Capacity:")):
            second.capacity_bytes = digits(line.split(":", 1)[1])
        elif line.startswith("Namespace 1 Size/Capacity:"):
            second.capacity_bytes = second.capacity_bytes or digits(line.split(":", 1)[1])
        elif line.startswith("Power On Hours:"):
            second.hours = digits(line.split(":", 1)[1])
        elif line.startswith("Percentage Used:"):
            second.used_percent = digits(line.split(":", 1)[1])
        elif line.startswith("Data Units Written:"):
            second.data_units = digits(line.split(":", 1)[1])
        elif line.startswith("SMART overall-health self-assessment test result:"):
            second.passed = words[-1] == "PASSED"
        elif (
            len(words) >= 8 and words[0].isdigit() and len(words[2]) == 6 and words[3].isdigit() and words[5].isdigit()
        ):
            second.raw.setdefault(words[1], digits(words[7]) or 0)
        elif line.endswith("Percentage Used Endurance Indicator") and words[3].isdigit():
            second.used_percent = int(words[3])
    if second.hours is None:
        second.hours = second.raw.get("Power_On_Hours")
    return second
