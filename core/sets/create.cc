/* Makes a Measurement Set, and adds rows to it. */
#include "core/sets/tables-private.hh"

#include <casacore/casa/Arrays/ArrayMath.h>
#include <casacore/measures/Measures/MDirection.h>
#include <casacore/measures/Measures/MFrequency.h>
#include <casacore/ms/MeasurementSets/MSColumns.h>
#include <casacore/tables/DataMan/IncrementalStMan.h>
#include <casacore/tables/DataMan/StandardStMan.h>
#include <casacore/tables/DataMan/TiledColumnStMan.h>
#include <casacore/tables/Tables/ScaColDesc.h>
#include <casacore/tables/Tables/SetupNewTab.h>

using namespace casacore;

namespace
{

constexpr double kTileBytes = 1 << 20;
constexpr double kAlways = 1e30; /* seconds: an interval that covers any time */

/* Columns whose cells all have one shape, each in tiles of its own. */
enum class Cell { kValues, kProducts, kUvw };
const struct {
  const char *name;
  Cell cell;
  size_t bytes;
} kTiled[] = {
  { "DATA", Cell::kValues, sizeof(Complex) },          { "FLAG", Cell::kValues, sizeof(Bool) },
  { "WEIGHT_SPECTRUM", Cell::kValues, sizeof(Float) }, { "WEIGHT", Cell::kProducts, sizeof(Float) },
  { "SIGMA", Cell::kProducts, sizeof(Float) },         { "UVW", Cell::kUvw, sizeof(Double) },
};

IPosition shape_of(Cell cell, ssize_t products, ssize_t channels)
{
  return cell == Cell::kValues     ? IPosition(2, products, channels)
         : cell == Cell::kProducts ? IPosition(1, products)
                                   : IPosition(1, 3);
}

/* Whole rows in a tile, since whole rows are written and mostly read. */
IPosition tile_of(const IPosition &cell, size_t bytes)
{
  const double rows = kTileBytes / (static_cast<double>(cell.product()) * bytes);
  return cell.concatenate(IPosition(1, std::max<ssize_t>(1, static_cast<ssize_t>(rows))));
}

/* The same in all rows: an incremental manager stores them once. */
const char *const kConstant[] = { "ARRAY_ID",    "DATA_DESC_ID", "FEED1",          "FEED2",
                                  "FIELD_ID",    "FLAG_ROW",     "OBSERVATION_ID", "PROCESSOR_ID",
                                  "SCAN_NUMBER", "STATE_ID" };

void write_antennas(MSColumns &columns, MeasurementSet &set, const AstroSetAbout &about)
{
  MSAntennaColumns &c = columns.antenna();
  set.antenna().addRow(about.n_antennas);
  for (guint i = 0; i < about.n_antennas; i++) {
    const double *at = about.positions + 3 * i;
    Vector<Double> position(3), zero(3, 0.0);
    for (guint k = 0; k < 3; k++)
      position[k] = at[k];
    c.name().put(i, about.antennas[i]);
    c.station().put(i, about.antennas[i]);
    c.type().put(i, "GROUND-BASED");
    c.mount().put(i, "ALT-AZ");
    c.position().put(i, position);
    c.offset().put(i, zero);
    c.dishDiameter().put(i, 0);
    c.flagRow().put(i, False);
  }
}

void write_feeds(MSColumns &columns, MeasurementSet &set, const AstroSetAbout &about)
{
  MSFeedColumns &c = columns.feed();
  const AstroSetSetup &setup = about.setups[0];
  const int receptors = setup.n_products == 1 ? 1 : 2;
  const bool is_linear = setup.products[0] < ASTRO_SET_RR || setup.products[0] >= ASTRO_SET_XX;
  Matrix<Double> offsets(2, receptors, 0.0);
  Matrix<Complex> response(receptors, receptors, Complex(0));
  Vector<String> types(receptors);
  for (int r = 0; r < receptors; r++) {
    response(r, r) = 1;
    types[r] = is_linear ? (r ? "Y" : "X") : (r ? "L" : "R");
  }
  set.feed().addRow(about.n_antennas);
  for (guint i = 0; i < about.n_antennas; i++) {
    c.antennaId().put(i, i);
    c.feedId().put(i, 0);
    c.spectralWindowId().put(i, -1);
    c.time().put(i, 0);
    c.interval().put(i, kAlways);
    c.numReceptors().put(i, receptors);
    c.beamId().put(i, -1);
    c.beamOffset().put(i, offsets);
    c.polarizationType().put(i, types);
    c.polResponse().put(i, response);
    c.position().put(i, Vector<Double>(3, 0.0));
    c.receptorAngle().put(i, Vector<Double>(receptors, 0.0));
  }
}

void write_band(MSColumns &columns, MeasurementSet &set, const AstroSetBand &band)
{
  MSSpWindowColumns &c = columns.spectralWindow();
  Vector<Double> frequencies(band.n_channels), widths(band.n_channels);
  double total = 0;
  for (guint k = 0; k < band.n_channels; k++) {
    frequencies[k] = band.frequencies[k];
    widths[k] = band.widths[k];
    total += band.widths[k];
  }
  set.spectralWindow().addRow(1);
  c.numChan().put(0, band.n_channels);
  c.name().put(0, "0");
  c.refFrequency().put(0, band.frequencies[0] > 0 || band.n_channels < 2 ? band.frequencies[0]
                                                                         : band.frequencies[1]);
  c.chanFreq().put(0, frequencies);
  c.chanWidth().put(0, widths);
  c.effectiveBW().put(0, widths);
  c.resolution().put(0, widths);
  c.totalBandwidth().put(0, total);
  c.measFreqRef().put(0, MFrequency::TOPO);
  c.netSideband().put(0, 1);
  c.ifConvChain().put(0, 0);
  c.freqGroup().put(0, 0);
  c.freqGroupName().put(0, "");
  c.flagRow().put(0, False);
}

void write_setup(MSColumns &columns, MeasurementSet &set, const AstroSetSetup &setup)
{
  MSPolarizationColumns &c = columns.polarization();
  Vector<Int> types(setup.n_products);
  Matrix<Int> receptors(2, setup.n_products);
  for (guint k = 0; k < setup.n_products; k++) {
    /* 0 to 3: RR, RL, LR, LL; Stokes I is taken as the first. */
    const int hands = setup.products[k] < ASTRO_SET_RR ? 0 : (setup.products[k] - ASTRO_SET_RR) % 4;
    types[k] = setup.products[k];
    receptors(0, k) = hands / 2;
    receptors(1, k) = hands % 2;
  }
  set.polarization().addRow(1);
  c.numCorr().put(0, setup.n_products);
  c.corrType().put(0, types);
  c.corrProduct().put(0, receptors);
  c.flagRow().put(0, False);
  set.dataDescription().addRow(1);
  columns.dataDescription().spectralWindowId().put(0, 0);
  columns.dataDescription().polarizationId().put(0, 0);
  columns.dataDescription().flagRow().put(0, False);
}

void write_field(MSColumns &columns, MeasurementSet &set, const AstroSetField &field)
{
  MSFieldColumns &c = columns.field();
  Matrix<Double> direction(2, 1);
  direction(0, 0) = field.ra;
  direction(1, 0) = field.dec;
  set.field().addRow(1);
  c.name().put(0, field.name);
  c.code().put(0, "");
  c.time().put(0, 0);
  c.numPoly().put(0, 0);
  c.delayDir().put(0, direction);
  c.phaseDir().put(0, direction);
  c.referenceDir().put(0, direction);
  c.sourceId().put(0, -1);
  c.flagRow().put(0, False);
}

/* One row each for what the main table points to. */
void write_rest(MSColumns &columns, MeasurementSet &set, const AstroSetAbout &about)
{
  set.observation().addRow(1);
  columns.observation().telescopeName().put(0, about.telescope);
  columns.observation().timeRange().put(0, Vector<Double>(2, 0.0));
  columns.observation().observer().put(0, "");
  columns.observation().project().put(0, "");
  columns.observation().scheduleType().put(0, "");
  columns.observation().log().put(0, Vector<String>(1, ""));
  columns.observation().schedule().put(0, Vector<String>(1, ""));
  columns.observation().releaseDate().put(0, 0);
  columns.observation().flagRow().put(0, False);
  set.processor().addRow(1);
  columns.processor().type().put(0, "CORRELATOR");
  columns.processor().subType().put(0, "");
  columns.processor().typeId().put(0, -1);
  columns.processor().modeId().put(0, -1);
  columns.processor().flagRow().put(0, False);
  set.state().addRow(1);
  columns.state().sig().put(0, True);
  columns.state().ref().put(0, False);
  columns.state().cal().put(0, 0);
  columns.state().load().put(0, 0);
  columns.state().subScan().put(0, 0);
  columns.state().obsMode().put(0, "OBSERVE_TARGET.UNSPECIFIED");
  columns.state().flagRow().put(0, False);
}

/* casacore has no column for these; our reader looks for them. */
void write_ours(MeasurementSet &set, const AstroSetOurs &ours)
{
  TableRecord record;
  record.define("START_MJD", static_cast<Int64>(ours.start_mjd));
  record.define("START_NS", static_cast<Int64>(ours.start_ns));
  record.define("DELAYS", String(ours.delays_are_in ? "IN" : "OUT"));
  if (ours.earth) {
    Matrix<Double> days(3, ours.earth_days);
    std::copy(ours.earth_values, ours.earth_values + 3 * ours.earth_days, days.data());
    record.define("EARTH", String(ours.earth));
    record.define("EARTH_MJD", static_cast<Int64>(ours.earth_mjd));
    record.define("EARTH_DAYS", days);
  }
  set.rwKeywordSet().defineRecord("GST_ASTRO", record);
}

void create_tables(AstroSetTables &tables, const AstroSetAbout &about)
{
  const ssize_t products = about.setups[0].n_products, channels = about.bands[0].n_channels;
  TableDesc desc(MS::requiredTableDesc());
  MS::addColumnToDesc(desc, MS::DATA, 2);
  MS::addColumnToDesc(desc, MS::WEIGHT_SPECTRUM, 2);
  for (const auto &tiled : kTiled) {
    ColumnDesc &column = desc.rwColumnDesc(tiled.name);
    column.setOptions(0);
    column.setShape(shape_of(tiled.cell, products, channels), False);
    column.setOptions(ColumnDesc::FixedShape);
  }
  SetupNewTable setup(tables.folder, desc, Table::NewNoReplace);
  StandardStMan standard("Standard", 32768);
  IncrementalStMan incremental("Incremental");
  setup.bindAll(standard);
  for (const char *name : kConstant)
    setup.bindColumn(name, incremental);
  for (const auto &tiled : kTiled)
    setup.bindColumn(tiled.name, TiledColumnStMan(std::string("Tiled") + tiled.name,
                                                  tile_of(shape_of(tiled.cell, products, channels),
                                                          tiled.bytes)));
  tables.set = std::make_unique<MeasurementSet>(setup, TableLock(TableLock::PermanentLocking));
  MeasurementSet &set = *tables.set;
  set.createDefaultSubtables(Table::New);
  set.initRefs();
  MSColumns columns(set);
  columns.setEpochRef(MEpoch::UTC);
  columns.setDirectionRef(MDirection::ICRS);
  columns.setUVWRef(Muvw::ICRS);
  write_antennas(columns, set, about);
  write_feeds(columns, set, about);
  write_band(columns, set, about.bands[0]);
  write_setup(columns, set, about.setups[0]);
  write_field(columns, set, about.fields[0]);
  write_rest(columns, set, about);
  write_ours(set, about.ours);
  /* Not a list of one, which pyuvdata does not read. */
  if (*about.unit)
    TableColumn(set, "DATA").rwKeywordSet().define("QuantumUnits", String(about.unit));
}

/* Wraps memory of the caller, which casacore only reads. */
template <class T> Array<T> wrap(const void *data, const IPosition &shape)
{
  return Array<T>(shape, static_cast<T *>(const_cast<void *>(data)), SHARE);
}

void write_constants(MSColumns &columns)
{
  columns.arrayId().put(0, 0);
  columns.dataDescId().put(0, 0);
  columns.feed1().put(0, 0);
  columns.feed2().put(0, 0);
  columns.fieldId().put(0, 0);
  columns.flagRow().put(0, False);
  columns.observationId().put(0, 0);
  columns.processorId().put(0, 0);
  columns.scanNumber().put(0, 1);
  columns.stateId().put(0, 0);
}

void add_rows(AstroSetTables &tables, const AstroSetRows &rows)
{
  static_assert(sizeof(Bool) == 1, "flags are bytes");
  MeasurementSet &set = *tables.set;
  const rownr_t first = tables.rows;
  set.addRow(rows.n);
  MSColumns columns(set);
  if (first == 0)
    write_constants(columns);
  const RefRows these(first, first + rows.n - 1);
  const IPosition one(1, rows.n), cell = columns.data().shapeColumn();
  const IPosition all = cell.concatenate(one), row = IPosition(1, cell[0]).concatenate(one);
  const Vector<Double> middle(rows.n, rows.middle), length(rows.n, rows.length);
  columns.antenna1().putColumnCells(these, Vector<Int>(wrap<Int>(rows.antenna1, one)));
  columns.antenna2().putColumnCells(these, Vector<Int>(wrap<Int>(rows.antenna2, one)));
  columns.time().putColumnCells(these, middle);
  columns.timeCentroid().putColumnCells(these, middle);
  columns.interval().putColumnCells(these, length);
  columns.exposure().putColumnCells(these, length);
  columns.uvw().putColumnCells(these, wrap<Double>(rows.uvw, IPosition(2, 3, rows.n)));
  columns.data().putColumnCells(these, wrap<Complex>(rows.values, all));
  columns.flag().putColumnCells(these, wrap<Bool>(rows.flags, all));
  columns.weightSpectrum().putColumnCells(these, wrap<Float>(rows.weights, all));
  columns.weight().putColumnCells(these, wrap<Float>(rows.row_weights, row));
  columns.sigma().putColumnCells(these, wrap<Float>(rows.row_sigmas, row));
  tables.rows += rows.n;
}

void complete(AstroSetTables &tables, double begin, double end)
{
  MeasurementSet &set = *tables.set;
  MSColumns columns(set);
  Vector<Double> range(2);
  range[0] = begin;
  range[1] = end;
  columns.observation().timeRange().put(0, range);
  columns.field().time().put(0, begin);
  set.history().addRow(1);
  columns.history().time().put(0, end);
  columns.history().observationId().put(0, 0);
  columns.history().message().put(0, "Written by gst-astro");
  columns.history().priority().put(0, "NORMAL");
  columns.history().origin().put(0, "gst-astro");
  columns.history().objectId().put(0, 0);
  columns.history().application().put(0, "gst-astro");
  columns.history().cliCommand().put(0, Vector<String>(1, ""));
  columns.history().appParams().put(0, Vector<String>(1, ""));
  set.flush(True);
  tables.is_whole = true;
}

} // namespace

AstroSetTables *astro_set_create(const char *folder, const AstroSetAbout *about, GError **error)
{
  auto tables = std::make_unique<AstroSetTables>();
  tables->folder = folder;
  if (astro::guarded(astro::Doing::kCreate, folder, error, [&] { create_tables(*tables, *about); }))
    return tables.release();
  astro_set_close(tables.release());
  return nullptr;
}

gboolean astro_set_add_rows(AstroSetTables *tables, const AstroSetRows *rows, GError **error)
{
  return astro::guarded(astro::Doing::kWrite, tables->folder, error,
                        [&] { add_rows(*tables, *rows); });
}

gboolean astro_set_complete(AstroSetTables *tables, double begin, double end, GError **error)
{
  return astro::guarded(astro::Doing::kWrite, tables->folder, error,
                        [&] { complete(*tables, begin, end); });
}
