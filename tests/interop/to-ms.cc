// to-ms UVFITS MS: converts, and prints how far our (u,v,w) are from those that casacore computes
// from the stations' positions, the times and the phase centre: the largest difference relative to
// the longest baseline. casacore computes station 2 minus station 1, while those from UVFITS stay
// station 1 minus station 2.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <casacore/casa/Exceptions/Error.h>
#include <casacore/derivedmscal/DerivedMC/MSCalEngine.h>
#include <casacore/ms/MeasurementSets/MeasurementSet.h>
#include <casacore/msfits/MSFits/MSFitsInput.h>
#include <casacore/tables/Tables/ArrayColumn.h>

int main(int argc, char **argv)
{
  if (argc != 3) {
    std::fprintf(stderr, "usage: %s UVFITS MS\n", argv[0]);
    return 2;
  }
  try {
    casacore::MSFitsInput input(argv[2], argv[1]);
    input.readFitsFile();
  } catch (const casacore::AipsError &error) {
    std::fprintf(stderr, "%s: %s\n", argv[1], error.what());
    return 1;
  }
  casacore::MeasurementSet ms(argv[2]);
  casacore::ArrayColumn<double> column(ms, "UVW");
  casacore::MSCalEngine engine;
  engine.setTable(ms);
  double worst = 0, longest = 0;
  for (casacore::rownr_t row = 0; row < ms.nrow(); row += 97) {
    casacore::Vector<double> ours(column(row)), theirs(3);
    engine.getNewUVW(false, row, theirs);
    double length = 0, difference = 0;
    for (int k = 0; k < 3; k++) {
      length += ours[k] * ours[k];
      difference += (ours[k] + theirs[k]) * (ours[k] + theirs[k]);
    }
    longest = std::max(longest, std::sqrt(length));
    worst = std::max(worst, std::sqrt(difference));
  }
  std::printf("uvw %g\n", worst / longest);
  return 0;
}
