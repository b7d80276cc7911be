"""The names that smartctl gives to the numbers of attributes of drives that its database does not know.

They say what a number meant on hard disks or on the first drives that used it. On an unknown drive they are no more
than the number. Source: the entry DEFAULT of smartmontools 7.5's drivedb.h.
"""

import re
from collections.abc import Iterable
from dataclasses import replace

from ssdlab.hardware.smart.attributes import Attribute

_UNKNOWN = re.compile(r"|Unknown(_(SSD|HDD))?_Attrib(ute)?|Vendor_.*")
DEFAULT = {
    1: "Raw_Read_Error_Rate",
    2: "Throughput_Performance",
    3: "Spin_Up_Time",
    4: "Start_Stop_Count",
    5: "Reallocated_Sector_Ct",
    7: "Seek_Error_Rate",
    8: "Seek_Time_Performance",
    9: "Power_On_Hours",
    10: "Spin_Retry_Count",
    12: "Power_Cycle_Count",
    13: "Read_Soft_Error_Rate",
    175: "Program_Fail_Count_Chip",
    176: "Erase_Fail_Count_Chip",
    177: "Wear_Leveling_Count",
    178: "Used_Rsvd_Blk_Cnt_Chip",
    179: "Used_Rsvd_Blk_Cnt_Tot",
    180: "Unused_Rsvd_Blk_Cnt_Tot",
    181: "Program_Fail_Cnt_Total",
    182: "Erase_Fail_Count_Total",
    183: "Runtime_Bad_Block",
    184: "End-to-End_Error",
    187: "Reported_Uncorrect",
    188: "Command_Timeout",
    190: "Airflow_Temperature_Cel",
    191: "G-Sense_Error_Rate",
    192: "Power-Off_Retract_Count",
    193: "Load_Cycle_Count",
    194: "Temperature_Celsius",
    195: "Hardware_ECC_Recovered",
    196: "Reallocated_Event_Count",
    197: "Current_Pending_Sector",
    198: "Offline_Uncorrectable",
    199: "UDMA_CRC_Error_Count",
    200: "Multi_Zone_Error_Rate",
    201: "Soft_Read_Error_Rate",
    202: "Data_Address_Mark_Errs",
    203: "Run_Out_Cancel",
    204: "Soft_ECC_Correction",
    205: "Thermal_Asperity_Rate",
    206: "Flying_Height",
    225: "Load_Cycle_Count",
    226: "Load-in_Time",
    228: "Power-off_Retract_Count",
    230: "Head_Amplitude",
    231: "Temperature_Celsius",
    232: "Available_Reservd_Space",
    233: "Media_Wearout_Indicator",
    240: "Head_Flying_Hours",
    241: "Total_LBAs_Written",
    242: "Total_LBAs_Read",
    250: "Read_Error_Retry_Rate",
}
ALIKE = (1, 5, 9, 12, 187, 190, 192, 194, 196, 197, 198, 199)
"""Numbers with one meaning on practically all drives, known to smartctl or not."""


def is_default(attribute: Attribute) -> bool:
    """Whether smartctl names the number so on every drive that it does not know."""
    # Web pages write the names with other capitals.
    default = DEFAULT.get(attribute.id, "")
    return bool(_UNKNOWN.fullmatch(attribute.name)) or default.casefold() == attribute.name.casefold()


def without_defaults(attributes: Iterable[Attribute]) -> list[Attribute]:
    """The attributes of a drive that smartctl does not know: only names with a meaning are left."""
    return [replace(each, name="") if each.id not in ALIKE and is_default(each) else each for each in attributes]
