/* A point against a leaf of points in space, a vector of pairs at a time. */
#include "config.h"
#include "core/histogram/space.h"

#include "core/backend/level.h"
#include "core/histogram/vector-sums.h"

typedef struct {
  Doubles row, column, scale;
} Measures;

/* space_measure, lane by lane. Past the last point of a leaf, rows are NaN. */
INLINE Measures measure(const double at[3], const LeafPositions *b, guint j, AstroBinning kind)
{
  const Doubles ax = doubles_all(at[0]), ay = doubles_all(at[1]), az = doubles_all(at[2]),
                bx = doubles_load(b->x + j), by = doubles_load(b->y + j),
                bz = doubles_load(b->z + j), none = doubles_all(0), one = doubles_all(1);
  const Doubles dx = ax - bx, dy = ay - by, dz = az - bz;
  const Doubles lx = ax + bx, ly = ay + by, lz = az + bz;
  const Doubles apart = (dx * dx + dy * dy) + dz * dz, sight = (lx * lx + ly * ly) + lz * lz;
  const Doubles root = (dx * lx + dy * ly) + dz * lz, along = root * root;
  if (kind == ASTRO_BINNING_SMU) {
    const Doubles scale = apart * sight;
    return (Measures){ apart, along, doubles_pick(doubles_below(none, scale), scale, one) };
  }
  const Doubles depth = doubles_pick(doubles_below(none, sight), along / sight, none);
  const Doubles across = apart - depth;
  return (Measures){ doubles_pick(doubles_below(across, none), none, across), depth, one };
}

INLINE guint find_row(const SpaceRule *rule, double square)
{
  const guint64 bits = space_bits(square);
  guint row = bits > rule->first ? rule->row_of[bits - rule->first] : 0;
  while (square >= rule->rows[row + 1])
    row++;
  return row;
}

/* The guess may be off by the rounding errors of a root. */
INLINE guint find_column(const SpaceRule *rule, double guess, double square, double scale)
{
  const guint last = rule->n_columns - 1;
  guint column = guess < last ? (guint)guess : last;
  while (column > 0 && square < rule->columns[column] * scale)
    column--;
  while (column < last && square >= rule->columns[column + 1] * scale)
    column++;
  return column;
}

/* kind is known where this is inlined. */
INLINE void place(const SpaceRule *rule, const double at[3], const LeafPositions *b,
                  SpaceHits *hits, const AstroBinning kind)
{
  const Doubles low = doubles_all(rule->rows[0]), high = doubles_all(rule->rows[rule->n_rows]),
                limit = doubles_all(rule->limit), per_unit = doubles_all(rule->per_unit);
  hits->n = 0;
  for (guint j = 0; j < LEAF_POINTS; j += LEVEL_DOUBLES) {
    const Measures m = measure(at, b, j, kind);
    guint lanes = doubles_lanes(doubles_at_least(m.row, low) & doubles_below(m.row, high) &
                                doubles_below(m.column, limit * m.scale));
    if (!lanes)
      continue;
    double rows[LEVEL_DOUBLES], columns[LEVEL_DOUBLES], scales[LEVEL_DOUBLES],
        guesses[LEVEL_DOUBLES];
    doubles_store(rows, m.row);
    doubles_store(columns, m.column);
    doubles_store(scales, m.scale);
    doubles_store(guesses, doubles_root(m.column / m.scale) * per_unit);
    for (; lanes; lanes &= lanes - 1) {
      const guint lane = (guint)__builtin_ctz(lanes);
      const guint row = find_row(rule, rows[lane]),
                  column = find_column(rule, guesses[lane], columns[lane], scales[lane]);
      hits->bin[hits->n] = row * rule->n_columns + column;
      hits->point[hits->n++] = (guint8)(j + lane);
    }
  }
}

void LEVEL_NAMED(astro_histogram_space)(const SpaceRule *rule, const double at[3],
                                        const LeafPositions *b, SpaceHits *hits)
{
  if (rule->kind == ASTRO_BINNING_SMU)
    place(rule, at, b, hits, ASTRO_BINNING_SMU);
  else
    place(rule, at, b, hits, ASTRO_BINNING_RPPI);
}
