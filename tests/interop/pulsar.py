"""pulsar.py PHASES: PINT's phases of two isolated pulsars over a year beside ours; run by "make check-interop".

PHASES is the program tests/interop/phases. The Earth's place is ERFA's, which PINT calls builtin, and that of DE421 in
the package skyfield-data. The numbers in tests/core/lib/ephemeris/ephemeris.c are such phases.
"""
import io
import os
import subprocess
import sys
import warnings

import numpy as np
import pint.logging
import pint.toa
from astropy import units
from astropy.coordinates import EarthLocation
from astropy.time import Time
from astropy.utils import iers
from pint.models import get_model
from pint.observatory.topo_obs import TopoObs
from pint.solar_system_ephemerides import clear_loaded_ephem, load_kernel

from checks import check, finish

SITE = (3826577.462, 461022.624, 5064892.526)
EQUATORIAL = """PSR J1234+56
RAJ 12:34:56.789 1 0.001
DECJ 56:12:34.56 1
PMRA -45.6
PMDEC 78.9
PX 1.5
POSEPOCH 57000
F0 305.123456789012345 1 1e-12
F1 -1.5e-15
F2 1e-26
PEPOCH 57200
DM 12.345
CLOCK TT(TAI)
UNITS TDB
TZRMJD 57201.123456789012345
TZRSITE @
TZRFRQ 0
"""
ECLIPTIC = """PSR J0000-0000
ELONG 123.456789
ELAT -1.2345
PMELONG 5.5
PMELAT -3.3
POSEPOCH 57100
ECL IERS2003
F0 29.9401197604790419
F1 -3.7648e-10
PEPOCH 57200
DM 56.7
DM1 0.01
DMEPOCH 57300
CLOCK TT(TAI)
UNITS TDB
TZRMJD 57301.25
TZRSITE coe
TZRFRQ 1400
"""


def theirs(par, days, fractions, frequency, ephem):
    toas = pint.toa.get_TOAs_array((days, fractions), obs="interop", freqs=frequency * units.Hz, ephem=ephem,
                                   include_bipm=False, include_gps=False, planets=False)
    phase = get_model(io.StringIO(f"{par}EPHEM {ephem}\n")).phase(toas, abs_phase=True)
    return np.array(phase.int, dtype=np.longdouble) + np.array(phase.frac, dtype=np.longdouble)


def ours(program, par, days, fractions, frequency, kernel):
    with open("interop.par", "w") as file:
        file.write(par)
    times = Time(days, fractions, format="mjd", scale="utc")
    pole = iers.earth_orientation_table.get().pm_xy(times)
    lines = "".join(
        f"{int(day)} {fraction * 86400:.9f} {frequency} {SITE[0]} {SITE[1]} {SITE[2]} {x:.12f} {y:.12f} {ut1:.12f}\n"
        for day, fraction, x, y, ut1 in zip(days, fractions, pole[0].to_value("arcsec"), pole[1].to_value("arcsec"),
                                            times.delta_ut1_utc))
    command = [program, "interop.par"] + ([kernel] if kernel else [])
    done = subprocess.run(command, input=lines, capture_output=True, text=True, check=True)
    return np.array([np.longdouble(word) for word in done.stdout.split()])


if __name__ == "__main__":
    import skyfield_data
    warnings.filterwarnings("ignore")
    pint.logging.setup("ERROR")
    iers.conf.auto_download = False
    TopoObs("interop", location=EarthLocation.from_geocentric(*SITE, unit="m"), clock_file=[], overwrite=True,
            apply_gps2utc=False)
    kernel = os.path.join(skyfield_data.get_skyfield_data_path(), "de421.bsp")
    rows = 57200.25 + 7.3 * np.arange(50)
    days = np.floor(rows)
    fractions = np.round(rows - days, 7)
    for name, par in ("equatorial", EQUATORIAL), ("ecliptic", ECLIPTIC):
        spin = float(par.split("F0 ")[1].split()[0])
        for ephem, file in ("builtin", None), ("de421", kernel):
            # PINT forgets which of its kernels astropy uses.
            clear_loaded_ephem()
            if file:
                load_kernel(ephem, path=file)
            found = (ours(sys.argv[1], par, days, fractions, 150e6, file) -
                     theirs(par, days, fractions, 150e6, ephem)) / spin * 1e6
            check(f"phases are within 10 ns of PINT's, {name}, planets by {ephem}", np.abs(found).max() < 0.01,
                  f"{float(np.abs(found).max()):.6f} us")
    finish()
