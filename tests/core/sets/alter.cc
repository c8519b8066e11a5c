/* Changes Measurement Sets with casacore. */
#include "tests/core/sets/alter.h"

#include <casacore/casa/Arrays/ArrayMath.h>
#include <casacore/casa/Arrays/Matrix.h>
#include <casacore/casa/Arrays/Vector.h>
#include <casacore/ms/MeasurementSets/MeasurementSet.h>
#include <casacore/tables/Tables/ArrColDesc.h>
#include <casacore/tables/Tables/ArrayColumn.h>
#include <casacore/tables/Tables/ScalarColumn.h>
#include <casacore/tables/Tables/TableCopy.h>
#include <casacore/tables/Tables/TableUtil.h>
#include <glib/gstdio.h>
#include <string>

using namespace casacore;

namespace
{

Table open(const char *set, const char *table = "")
{
  const std::string path = *table ? std::string(set) + "/" + table : std::string(set);
  return Table(path, Table::Update);
}

/* Rows in another order, as a set under the same name. */
void reorder(const char *set, const RowNumbers &rows)
{
  const std::string copy = std::string(set) + ".copy";
  {
    Table table(set);
    table(rows).deepCopy(copy, Table::New, True);
  }
  TableUtil::deleteTable(set, True);
  Table table(copy, Table::Update);
  table.rename(set, Table::New);
}

} // namespace

void test_alter_select(const char *set, guint first, const char *selection)
{
  Table table(set);
  Vector<rownr_t> rows(table.nrow() - first);
  indgen(rows, static_cast<rownr_t>(first));
  Table selected = table(RowNumbers(rows));
  selected.rename(selection, Table::New);
}

void test_alter_integer(const char *set, const char *table, const char *column, guint row,
                        gint value)
{
  Table t = open(set, table);
  ScalarColumn<Int>(t, column).put(row, value);
}

void test_alter_double(const char *set, const char *table, const char *column, guint row,
                       double value)
{
  Table t = open(set, table);
  ScalarColumn<Double>(t, column).put(row, value);
}

void test_alter_product(const char *set, gint number)
{
  Table t = open(set, "POLARIZATION");
  ArrayColumn<Int>(t, "CORR_TYPE").put(0, Vector<Int>(1, number));
}

void test_alter_feeds(const char *set, double x, double y)
{
  Table t = open(set, "FEED");
  ArrayColumn<Double> angles(t, "RECEPTOR_ANGLE");
  Vector<Double> both(2);
  both[0] = x;
  both[1] = y;
  for (rownr_t row = 0; row < t.nrow(); row++)
    angles.put(row, both);
}

void test_alter_phase_centre(const char *set, double radians)
{
  Table t = open(set, "FIELD");
  ArrayColumn<Double> column(t, "PHASE_DIR");
  Array<Double> direction = column(0);
  direction.data()[0] += radians;
  column.put(0, direction);
}

void test_alter_phase_moves(const char *set, double radians)
{
  Table t = open(set, "FIELD");
  ArrayColumn<Double> column(t, "PHASE_DIR");
  const Array<Double> before = column(0);
  Matrix<Double> direction(2, 2, 0.0);
  std::copy(before.data(), before.data() + 2, direction.data());
  direction(0, 1) = radians;
  column.setShape(0, direction.shape());
  column.put(0, direction);
  ScalarColumn<Int>(t, "NUM_POLY").put(0, 1);
}

void test_alter_flag(const char *set, guint row)
{
  Table t = open(set);
  ScalarColumn<Bool>(t, "FLAG_ROW").put(row, True);
}

void test_alter_scale_weights(const char *set, float factor)
{
  Table t = open(set);
  for (const char *name : { "WEIGHT", "WEIGHT_SPECTRUM" }) {
    ArrayColumn<Float> column(t, name);
    column.putColumn(column.getColumn() * factor);
  }
}

void test_alter_remove_column(const char *set, const char *column)
{
  Table t = open(set);
  t.removeColumn(column);
}

void test_alter_remove_row(const char *set, guint row)
{
  const rownr_t n = Table(set).nrow();
  std::vector<rownr_t> left;
  for (rownr_t i = 0; i < n; i++)
    if (i != row)
      left.push_back(i);
  reorder(set, RowNumbers(Vector<rownr_t>(left)));
}

void test_alter_remove_rows(const char *set)
{
  reorder(set, RowNumbers(Vector<rownr_t>()));
}

void test_alter_shuffle(const char *set)
{
  const rownr_t n = Table(set).nrow();
  rownr_t step = n / 2 + 1;
  while (std::__gcd(step, n) != 1)
    step++;
  Vector<rownr_t> rows(n);
  for (rownr_t i = 0; i < n; i++)
    rows[i] = (i * step) % n;
  reorder(set, RowNumbers(rows));
}

void test_alter_exchange(const char *set)
{
  Table t = open(set);
  ScalarColumn<Int> one(t, "ANTENNA1"), two(t, "ANTENNA2");
  ArrayColumn<Double> uvw(t, "UVW");
  ArrayColumn<Complex> values(t, "DATA");
  ArrayColumn<Float> weights(t, "WEIGHT_SPECTRUM");
  ArrayColumn<Bool> flags(t, "FLAG");
  for (rownr_t row = 0; row < t.nrow(); row += 2) {
    const Int first = one(row);
    if (first == two(row))
      continue;
    one.put(row, two(row));
    two.put(row, first);
    uvw.put(row, -uvw(row));
    Matrix<Complex> v(conj(values(row)));
    Matrix<Float> w(weights(row));
    Matrix<Bool> f(flags(row));
    if (v.nrow() == 4)
      for (size_t c = 0; c < v.ncolumn(); c++) {
        std::swap(v(1, c), v(2, c));
        std::swap(w(1, c), w(2, c));
        std::swap(f(1, c), f(2, c));
      }
    values.put(row, v);
    weights.put(row, w);
    flags.put(row, f);
  }
}

void test_alter_conjugate(const char *set)
{
  Table t = open(set);
  ArrayColumn<Double> uvw(t, "UVW");
  ArrayColumn<Complex> values(t, "DATA");
  uvw.putColumn(-uvw.getColumn());
  values.putColumn(conj(values.getColumn()));
}

void test_alter_mirror_u(const char *set)
{
  Table t = open(set);
  ArrayColumn<Double> column(t, "UVW");
  for (rownr_t row = 0; row < t.nrow(); row++) {
    Vector<Double> uvw(column(row));
    uvw[0] = -uvw[0];
    column.put(row, uvw);
  }
}

namespace
{

/* The number of the first row that was added. */
rownr_t add_rows(Table &to, const Table &from)
{
  const rownr_t first = to.nrow();
  to.addRow(from.nrow());
  TableCopy::copyRows(to, from, first, 0, from.nrow());
  return first;
}

} // namespace

void test_alter_add_field(const char *set, const char *other)
{
  Table t = open(set), field = open(set, "FIELD");
  const rownr_t first = add_rows(t, Table(other));
  add_rows(field, Table(std::string(other) + "/FIELD"));
  for (rownr_t row = first; row < t.nrow(); row++)
    ScalarColumn<Int>(t, "FIELD_ID").put(row, 1);
}

void test_alter_add_band(const char *set, const char *other)
{
  Table t = open(set), band = open(set, "SPECTRAL_WINDOW"), setup = open(set, "DATA_DESCRIPTION");
  const rownr_t first = add_rows(t, Table(other));
  add_rows(band, Table(std::string(other) + "/SPECTRAL_WINDOW"));
  setup.addRow(1);
  ScalarColumn<Int>(setup, "SPECTRAL_WINDOW_ID").put(1, 1);
  ScalarColumn<Int>(setup, "POLARIZATION_ID").put(1, 0);
  ScalarColumn<Bool>(setup, "FLAG_ROW").put(1, False);
  for (rownr_t row = first; row < t.nrow(); row++)
    ScalarColumn<Int>(t, "DATA_DESC_ID").put(row, 1);
}

void test_alter_add_corrected(const char *set)
{
  Table t = open(set);
  t.addColumn(ArrayColumnDesc<Complex>("CORRECTED_DATA", 2));
  ArrayColumn<Complex> column(t, "CORRECTED_DATA"), values(t, "DATA");
  for (rownr_t row = 0; row < t.nrow(); row++)
    column.put(row, values(row) * Complex(2));
}
