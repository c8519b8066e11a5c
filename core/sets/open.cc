/* Reads what a Measurement Set says about itself, and the columns that say what each row holds. */
#include "core/sets/tables-private.hh"

#include <cmath>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

#include <casacore/tables/DataMan/TiledShapeStMan.h>
#include <casacore/tables/Tables/ArrColDesc.h>
#include <casacore/tables/Tables/ArrayColumn.h>
#include <casacore/tables/Tables/ScalarColumn.h>
#include <casacore/tables/Tables/TableRecord.h>

using namespace casacore;

namespace
{

/* A message that says more than casacore's. */
[[noreturn]] void wrong(const std::string &text)
{
  throw AipsError(text);
}

Table sub_table(const Table &set, const char *name)
{
  if (!set.keywordSet().isDefined(name))
    wrong(std::string("it has no table ") + name);
  return set.keywordSet().asTable(name);
}

guint checked(const char *what, rownr_t n)
{
  if (n > 65535)
    wrong(std::string("table ") + what + " has " + std::to_string(n) +
          " rows, expected at most 65535");
  return static_cast<guint>(n);
}

template <class T> T *copy(const Array<T> &array)
{
  T *data = g_new(T, array.nelements());
  std::copy(array.begin(), array.end(), data);
  return data;
}

char *text(const String &s)
{
  return g_utf8_make_valid(s.c_str(), -1);
}

void read_antennas(const Table &set, AstroSetAbout &about)
{
  const Table table = sub_table(set, "ANTENNA");
  const ScalarColumn<String> names(table, "NAME"), stations(table, "STATION");
  const ArrayColumn<Double> positions(table, "POSITION");
  about.n_antennas = checked("ANTENNA", table.nrow());
  about.antennas = g_new0(char *, about.n_antennas + 1);
  about.positions = g_new0(double, 3 * about.n_antennas);
  for (guint i = 0; i < about.n_antennas; i++) {
    const Array<Double> position = positions(i);
    if (position.nelements() != 3)
      wrong("a POSITION in table ANTENNA has no three coordinates");
    about.antennas[i] = text(names(i).empty() ? stations(i) : names(i));
    std::copy(position.begin(), position.end(), about.positions + 3 * i);
  }
  const TableRecord keywords = TableColumn(table, "POSITION").keywordSet();
  if (keywords.isDefined("MEASINFO")) {
    const String frame = keywords.asRecord("MEASINFO").asString("Ref");
    if (frame != "ITRF")
      wrong("positions in table ANTENNA are in the frame " + frame + ", expected ITRF");
  }
}

/* Directions of a table are in one frame, or each row names its own. */
String frame_of(const Table &fields, rownr_t row)
{
  const TableRecord keywords = TableColumn(fields, "PHASE_DIR").keywordSet();
  if (!keywords.isDefined("MEASINFO"))
    return "J2000";
  const RecordInterface &about = keywords.asRecord("MEASINFO");
  if (!about.isDefined("VarRefCol"))
    return about.isDefined("Ref") ? about.asString("Ref") : String("J2000");
  const String column = about.asString("VarRefCol");
  if (fields.tableDesc().columnDesc(column).dataType() == TpString)
    return ScalarColumn<String>(fields, column)(row);
  const Int code = ScalarColumn<Int>(fields, column)(row);
  const Vector<uInt> codes = about.toArrayuInt("TabRefCodes");
  const Vector<String> types = about.toArrayString("TabRefTypes");
  for (size_t k = 0; k < codes.size(); k++)
    if (static_cast<Int>(codes[k]) == code)
      return types[k];
  return "unknown";
}

void read_fields(const Table &set, AstroSetAbout &about)
{
  const Table table = sub_table(set, "FIELD");
  const ScalarColumn<String> names(table, "NAME");
  const ArrayColumn<Double> directions(table, "PHASE_DIR");
  const bool has_ephemeris = table.tableDesc().isColumn("EPHEMERIS_ID");
  about.n_fields = checked("FIELD", table.nrow());
  about.fields = g_new0(AstroSetField, about.n_fields);
  for (guint i = 0; i < about.n_fields; i++) {
    AstroSetField &field = about.fields[i];
    const Array<Double> direction = directions(i);
    if (direction.nelements() < 2)
      wrong("a PHASE_DIR in table FIELD has no two coordinates");
    field.name = text(names(i));
    field.frame = text(frame_of(table, i));
    field.ra = direction.data()[0];
    field.dec = direction.data()[1];
    field.is_moving = has_ephemeris && ScalarColumn<Int>(table, "EPHEMERIS_ID")(i) >= 0;
    for (size_t k = 2; k < direction.nelements(); k++)
      field.is_moving = field.is_moving || direction.data()[k] != 0;
  }
}

void read_bands(const Table &set, AstroSetAbout &about)
{
  const Table table = sub_table(set, "SPECTRAL_WINDOW");
  const ArrayColumn<Double> frequencies(table, "CHAN_FREQ"), widths(table, "CHAN_WIDTH");
  const bool has_reference = table.tableDesc().isColumn("MEAS_FREQ_REF");
  about.n_bands = checked("SPECTRAL_WINDOW", table.nrow());
  about.bands = g_new0(AstroSetBand, about.n_bands);
  for (guint i = 0; i < about.n_bands; i++) {
    const Array<Double> frequency = frequencies(i), width = widths(i);
    if (frequency.empty() || frequency.nelements() != width.nelements())
      wrong("spectral window " + std::to_string(i) + " has " +
            std::to_string(frequency.nelements()) + " frequencies and " +
            std::to_string(width.nelements()) + " widths, expected one each for every channel");
    about.bands[i].n_channels = frequency.nelements();
    about.bands[i].reference = has_reference ? ScalarColumn<Int>(table, "MEAS_FREQ_REF")(i) : -1;
    about.bands[i].frequencies = copy(frequency);
    about.bands[i].widths = copy(width);
  }
}

void read_setups(const Table &set, AstroSetAbout &about)
{
  const Table table = sub_table(set, "DATA_DESCRIPTION"), products = sub_table(set, "POLARIZATION");
  const ScalarColumn<Int> bands(table, "SPECTRAL_WINDOW_ID"), ids(table, "POLARIZATION_ID");
  const ArrayColumn<Int> types(products, "CORR_TYPE");
  about.n_setups = checked("DATA_DESCRIPTION", table.nrow());
  about.setups = g_new0(AstroSetSetup, about.n_setups);
  for (guint i = 0; i < about.n_setups; i++) {
    const Int band = bands(i), id = ids(i);
    if (band < 0 || band >= static_cast<Int>(about.n_bands) || id < 0 ||
        static_cast<rownr_t>(id) >= products.nrow())
      wrong("row " + std::to_string(i) + " of table DATA_DESCRIPTION has spectral window " +
            std::to_string(band) + " and polarization " + std::to_string(id) +
            ", which are not in their tables");
    const Array<Int> row = types(id);
    about.setups[i].band = band;
    about.setups[i].n_products = row.nelements();
    about.setups[i].products = copy(row);
  }
}

bool is_along(double angle, double direction)
{
  return std::fabs(std::remainder(angle - direction, G_PI)) < 0.01;
}

/* pyuvdata gives each feed its own angle from north through east; in sets of CASA both are turned
 * by one angle, mostly 0. The table may be missing. */
bool x_is_east(const Table &set)
{
  if (!set.keywordSet().isDefined("FEED"))
    return false;
  const Table table = sub_table(set, "FEED");
  const ArrayColumn<Double> angles(table, "RECEPTOR_ANGLE");
  const ArrayColumn<String> types(table, "POLARIZATION_TYPE");
  for (rownr_t row = 0; row < table.nrow(); row++) {
    const Array<Double> angle = angles(row);
    const Array<String> type = types(row);
    if (angle.nelements() != 2 || type.nelements() != 2)
      return false;
    for (size_t feed = 0; feed < 2; feed++) {
      const String &is = type.data()[feed];
      if ((is != "X" && is != "Y") || !is_along(angle.data()[feed], is == "X" ? G_PI_2 : 0))
        return false;
    }
  }
  return table.nrow() > 0;
}

void read_ours(const Table &set, AstroSetOurs &ours)
{
  if (!set.keywordSet().isDefined("GST_ASTRO"))
    return;
  const RecordInterface &record = set.keywordSet().asRecord("GST_ASTRO");
  ours.start_mjd = record.asInt64("START_MJD");
  ours.start_ns = record.asInt64("START_NS");
  ours.delays_are_in = record.asString("DELAYS") == "IN";
  if (record.isDefined("EARTH")) {
    const Array<Double> days = record.toArrayDouble("EARTH_DAYS");
    ours.earth = text(record.asString("EARTH"));
    ours.earth_mjd = record.asInt64("EARTH_MJD");
    ours.earth_days = days.nelements() / 3;
    ours.earth_values = copy(days);
  }
  ours.is_there = TRUE;
}

void read_about(const Table &set, AstroSetAbout &about)
{
  const Table observation = sub_table(set, "OBSERVATION");
  read_antennas(set, about);
  read_fields(set, about);
  read_bands(set, about);
  read_setups(set, about);
  about.telescope = text(
      observation.nrow() > 0 ? ScalarColumn<String>(observation, "TELESCOPE_NAME")(0) : String());
  const TableRecord time = TableColumn(set, "TIME").keywordSet();
  about.clock =
      text(time.isDefined("MEASINFO") ? time.asRecord("MEASINFO").asString("Ref") : String("UTC"));
  about.x_is_east = x_is_east(set);
  read_ours(set, about.ours);
}

/* Empty if it is not told. */
char *unit_of(const Table &set, const char *column)
{
  if (!set.tableDesc().isColumn(column))
    return g_strdup("");
  const TableRecord keywords = TableColumn(set, column).keywordSet();
  if (!keywords.isDefined("QuantumUnits"))
    return g_strdup("");
  const Array<String> units = keywords.toArrayString("QuantumUnits");
  return text(units.empty() ? String() : *units.begin());
}

template <class T> T *whole_column(const Table &set, const char *name)
{
  return copy(Array<T>(ScalarColumn<T>(set, name).getColumn()));
}

void read_index(const Table &set, AstroSetIndex &index)
{
  index.n = set.nrow();
  index.antenna1 = whole_column<Int>(set, "ANTENNA1");
  index.antenna2 = whole_column<Int>(set, "ANTENNA2");
  index.field = whole_column<Int>(set, "FIELD_ID");
  index.setup = whole_column<Int>(set, "DATA_DESC_ID");
  index.array = whole_column<Int>(set, "ARRAY_ID");
  index.middle = whole_column<Double>(set, "TIME");
  index.length = whole_column<Double>(set, "INTERVAL");
  index.uvw = copy(Array<Double>(ArrayColumn<Double>(set, "UVW").getColumn()));
  const Array<Bool> flags = ScalarColumn<Bool>(set, "FLAG_ROW").getColumn();
  index.is_flagged = g_new(guint8, index.n);
  std::copy(flags.begin(), flags.end(), index.is_flagged);
}

template <class T> Array<T> wrap(void *data, const IPosition &shape)
{
  return Array<T>(shape, static_cast<T *>(data), SHARE);
}

struct Cells {
  const Table &set;
  Slicer rows;
  IPosition shape; /* of all cells together */
};

/* Reads cells of one shape; other shapes are an error. */
template <class T> void read_cells(const Cells &cells, const char *name, void *data)
{
  Array<T> room = wrap<T>(data, cells.shape);
  ArrayColumn<T>(cells.set, name).getColumnRange(cells.rows, room, False);
}

/* Weights of rows that have only SIGMA: what is not above 0 is no weight. */
void weights_of_sigmas(Array<Float> &values)
{
  for (Float &value : values)
    value = value > 0 ? 1 / (value * value) : 0;
}

/* Weights of whole rows, repeated for their channels. */
void spread_weights(const Cells &cells, float *weights)
{
  const ssize_t products = cells.shape[0], channels = cells.shape[1], rows = cells.shape[2];
  const bool has_weights = cells.set.tableDesc().isColumn("WEIGHT");
  const char *column = has_weights ? "WEIGHT" : "SIGMA";
  Array<Float> of_rows = ArrayColumn<Float>(cells.set, column).getColumnRange(cells.rows);
  if (of_rows.shape() != IPosition(2, products, rows))
    wrong(std::string(column) + " has other products than the values");
  if (!has_weights)
    weights_of_sigmas(of_rows);
  const Float *from = of_rows.data();
  for (ssize_t r = 0; r < rows; r++, from += products)
    for (ssize_t c = 0; c < channels; c++, weights += products)
      std::copy(from, from + products, weights);
}

/* In tiles, as DATA is. Other columns than CASA's are not added, since nobody would find them. */
void add_column(Table &set, const String &name)
{
  if (set.tableDesc().isColumn(name))
    return;
  if (name != "CORRECTED_DATA" && name != "MODEL_DATA")
    wrong("it has no column " + name +
          ", expected DATA, CORRECTED_DATA, MODEL_DATA or FLAG (column)");
  const ArrayColumn<Complex> values(set, "DATA");
  const IPosition tile(3, 4, 64, 64);
  set.addColumn(ArrayColumnDesc<Complex>(name, 2), TiledShapeStMan("Tiled" + name, tile));
  ArrayColumn<Complex> added(set, name);
  for (rownr_t row = 0; row < set.nrow(); row++)
    if (name == "CORRECTED_DATA")
      added.put(row, values(row));
    else
      added.put(row, Array<Complex>(values.shape(row), Complex(0)));
  if (values.keywordSet().isDefined("QuantumUnits"))
    added.rwKeywordSet().define("QuantumUnits",
                                *values.keywordSet().toArrayString("QuantumUnits").begin());
}

bool has_spectrum(const Table &set, rownr_t row)
{
  return set.tableDesc().isColumn("WEIGHT_SPECTRUM") &&
         ArrayColumn<Float>(set, "WEIGHT_SPECTRUM").isDefined(row);
}

} // namespace

/* More than a set needs. casacore ends the program where it runs out of them. */
static constexpr size_t kDescriptors = 64;

static gboolean check_descriptors(const char *folder, GError **error)
{
  int taken[kDescriptors];
  size_t n = 0;
  while (n < kDescriptors && (taken[n] = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0)
    n++;
  for (size_t i = 0; i < n; i++)
    close(taken[i]);
  return n == kDescriptors ||
         astro_fail(error, ASTRO_ROWS_ERROR, ASTRO_ROWS_ERROR_OPEN,
                    "cannot open %s: this process has too many files open already, as there may be "
                    "with many sets at once: ulimit -n 65536 permits more",
                    folder);
}

static AstroSetTables *open_tables(const char *folder, const char *column, AstroSetAbout *about,
                                   Table::TableOption option, GError **error)
{
  *about = {};
  if (!check_descriptors(folder, error))
    return nullptr;
  auto tables = std::make_unique<AstroSetTables>();
  tables->folder = folder;
  if (astro::guarded(astro::Doing::kOpen, folder, error, [&] {
        /* A cache and not a mapping: a file that is cut short is then an error, not a signal. */
        tables->table = std::make_unique<Table>(folder, TableLock(TableLock::PermanentLocking),
                                                option, TSMOption(TSMOption::Cache));
        read_about(*tables->table, *about);
        if (option == Table::Update)
          add_column(*tables->table, column);
        about->unit = unit_of(*tables->table, column);
      }))
    return tables.release();
  astro_set_about_clear(about);
  astro_set_close(tables.release());
  return nullptr;
}

AstroSetTables *astro_set_open(const char *folder, const char *column, AstroSetAbout *about,
                               GError **error)
{
  return open_tables(folder, column, about, Table::Old, error);
}

AstroSetTables *astro_set_open_to_write(const char *folder, const char *column,
                                        AstroSetAbout *about, GError **error)
{
  return open_tables(folder, column, about, Table::Update, error);
}

gboolean astro_set_put_row(AstroSetTables *tables, const char *column, guint64 row, guint channels,
                           guint products, const float *values, const guint8 *flags, GError **error)
{
  return astro::guarded(astro::Doing::kWrite, tables->folder, error, [&] {
    const IPosition cell(2, products, channels);
    if (values)
      ArrayColumn<Complex>(*tables->table, column)
          .put(row, wrap<Complex>(const_cast<float *>(values), cell));
    if (flags)
      ArrayColumn<Bool>(*tables->table, column)
          .put(row, wrap<Bool>(const_cast<guint8 *>(flags), cell));
  });
}

gboolean astro_set_flush(AstroSetTables *tables, GError **error)
{
  return astro::guarded(astro::Doing::kWrite, tables->folder, error,
                        [&] { tables->table->flush(True); });
}

gboolean astro_set_read_index(AstroSetTables *tables, AstroSetIndex *index, GError **error)
{
  *index = {};
  if (astro::guarded(astro::Doing::kRead, tables->folder, error,
                     [&] { read_index(*tables->table, *index); }))
    return TRUE;
  astro_set_index_clear(index);
  return FALSE;
}

gboolean astro_set_has_column(AstroSetTables *tables, const char *column)
{
  gboolean has = FALSE;
  astro::guarded(astro::Doing::kRead, tables->folder, nullptr,
                 [&] { has = tables->table->tableDesc().isColumn(column); });
  return has;
}

gboolean astro_set_read_rows(AstroSetTables *tables, const char *column, guint64 first, guint n,
                             guint channels, guint products, float *values, guint8 *flags,
                             float *weights, GError **error)
{
  return astro::guarded(astro::Doing::kRead, tables->folder, error, [&] {
    const Cells cells = { *tables->table, Slicer(IPosition(1, first), IPosition(1, n)),
                          IPosition(3, products, channels, n) };
    if (values)
      read_cells<Complex>(cells, column, values);
    if (flags)
      read_cells<Bool>(cells, "FLAG", flags);
    if (!weights)
      return;
    if (has_spectrum(*tables->table, first))
      read_cells<Float>(cells, "WEIGHT_SPECTRUM", weights);
    else
      spread_weights(cells, weights);
  });
}
