/* Makes means of sums over pairs, and their errors. */
#include "core/tpacf/fields-table.h"

#include "core/tpacf/left-out.h"

#include <math.h>
#include <string.h>

/* Values, in the order of planes; the first n_errors have errors and covariances. */
static const struct {
  guint n_values, n_errors;
  const char *errors[2];
} kinds[] = {
  [ASTRO_PAIR_FIELDS_KK] = { 1, 1, { "sigma_xi" } },
  [ASTRO_PAIR_FIELDS_NK] = { 1, 1, { "sigma" } },
  [ASTRO_PAIR_FIELDS_NG] = { 2, 1, { "sigma" } },
  [ASTRO_PAIR_FIELDS_GG] = { 4, 2, { "sigma_xip", "sigma_xim" } },
};

enum { R_NOM, LOW, HIGH, MEAN_R, N_FIXED };

static const char *value_name(const AstroFieldsTable *t, guint value)
{
  return astro_pair_fields_plane(t->fields, ASTRO_PAIR_PLANE_FIRST + value);
}

static void name_covariance(const AstroFieldsTable *t, guint i, guint j, GString *names)
{
  for (guint k = 0; k < t->n_bins; k++)
    if (kinds[t->fields].n_errors == 1)
      g_string_append_printf(names, ":cov%u", k);
    else
      g_string_append_printf(names, ":cov_%s_%s%u", value_name(t, i), value_name(t, j), k);
}

char *astro_fields_table_columns(const AstroFieldsTable *t)
{
  GString *names = g_string_new("r_nom:low:high:meanr");
  const guint n_errors = kinds[t->fields].n_errors;
  for (guint v = 0; v < kinds[t->fields].n_values; v++)
    g_string_append_printf(names, ":%s", value_name(t, v));
  for (guint e = 0; e < n_errors; e++)
    g_string_append_printf(names, ":%s", kinds[t->fields].errors[e]);
  g_string_append(names, ":weight:npairs");
  for (guint i = 0; i < n_errors && t->n_regions > 1; i++)
    for (guint j = i; j < n_errors; j++)
      name_covariance(t, i, j, names);
  return g_string_free(names, FALSE);
}

gsize astro_fields_table_values(const AstroFieldsTable *t)
{
  const gsize n_errors = kinds[t->fields].n_errors,
              columns = N_FIXED + kinds[t->fields].n_values + n_errors + 2,
              covariance = t->n_regions > 1 ? n_errors * (n_errors + 1) / 2 * t->n_bins : 0;
  return (columns + covariance) * t->n_bins;
}

/* ---- means ---- */

/* Planes of data and, if they are there, of random points in their place: all regions, or without
 * one. */
typedef struct {
  Sum planes[2][ASTRO_PAIR_MOST_PLANES];
} Planes;

static double ratio(const Planes *p, guint kind, guint plane, guint bin)
{
  return p->planes[kind][plane].counts[bin] / p->planes[kind][ASTRO_PAIR_PLANE_WEIGHT].counts[bin];
}

static double mean(const AstroFieldsTable *t, const Planes *p, guint value, guint bin)
{
  const guint plane = ASTRO_PAIR_PLANE_FIRST + value;
  const double m = ratio(p, 0, plane, bin) - (t->has_random ? ratio(p, 1, plane, bin) : 0);
  return isfinite(m) ? m : NAN;
}

static double scatter(const AstroFieldsTable *t, const Planes *p, guint bin)
{
  const guint last = astro_pair_fields_planes(t->fields) - 1;
  double variance = 0;
  for (guint kind = 0; kind <= (guint)t->has_random; kind++)
    variance += ratio(p, kind, last, bin) / p->planes[kind][ASTRO_PAIR_PLANE_WEIGHT].counts[bin];
  return sqrt(variance);
}

static const double *plane_of(const AstroFieldsTable *t, const double *values, gsize of_plane,
                              guint kind, guint plane)
{
  return values + (kind * astro_pair_fields_planes(t->fields) + plane) * of_plane;
}

static void planes_free(const AstroFieldsTable *t, Planes *p)
{
  for (guint kind = 0; kind <= (guint)t->has_random; kind++)
    sums_free(p->planes[kind], astro_pair_fields_planes(t->fields));
}

/* FALSE: there is no memory; the planes are to be freed all the same. */
static gboolean sum_planes(const AstroFieldsTable *t, const AstroFieldsSums *sums, Planes *all)
{
  const Regions regions = { t->n_regions, t->n_bins };
  const gsize cells = (gsize)t->n_regions * t->n_regions;
  const guint planes = astro_pair_fields_planes(t->fields);
  *all = (Planes){ 0 };
  for (guint kind = 0; kind <= (guint)t->has_random; kind++) {
    if (!sums_init(all->planes[kind], planes, t->n_bins))
      return FALSE;
    for (guint p = 0; p < planes; p++)
      sum_all(&regions, plane_of(t, sums->sums, cells * t->n_bins, kind, p),
              plane_of(t, sums->pairs, cells, kind, p), &all->planes[kind][p]);
  }
  return TRUE;
}

/* ---- jackknife ---- */

/* FALSE: there is no memory. left: of 0, and to be freed in any case. */
static gboolean leave_out(const AstroFieldsTable *t, const AstroFieldsSums *sums, Planes *left)
{
  const Regions regions = { t->n_regions, t->n_bins };
  const gsize cells = (gsize)t->n_regions * t->n_regions;
  for (guint kind = 0; kind <= (guint)t->has_random; kind++)
    for (guint p = 0; p < astro_pair_fields_planes(t->fields); p++) {
      Sum *without = sums_left(&regions, plane_of(t, sums->sums, cells * t->n_bins, kind, p),
                               plane_of(t, sums->pairs, cells, kind, p));
      if (!without)
        return FALSE;
      for (guint r = 0; r < t->n_regions; r++)
        left[r].planes[kind][p] = without[r];
      g_free(without);
    }
  return TRUE;
}

static gboolean is_touched(const AstroFieldsTable *t, const AstroFieldsSums *sums, guint region)
{
  const Regions regions = { t->n_regions, t->n_bins };
  const gsize cells = (gsize)t->n_regions * t->n_regions;
  gboolean touched = FALSE;
  for (guint kind = 0; kind <= (guint)t->has_random; kind++)
    touched |= has_pairs(&regions, plane_of(t, sums->sums, cells * t->n_bins, kind, 0),
                         plane_of(t, sums->pairs, cells, kind, 0), region);
  return touched;
}

/* Samples [sample][value][bin] of the values that have errors; returns how many there are. left:
 * the sums without each region. */
static guint make_samples(const AstroFieldsTable *t, const AstroFieldsSums *sums,
                          const Planes *left, double *samples)
{
  const guint n_errors = kinds[t->fields].n_errors;
  guint n = 0;
  for (guint r = 0; r < t->n_regions; r++) {
    const gboolean touched = is_touched(t, sums, r);
    for (guint v = 0; v < n_errors * t->n_bins && touched; v++)
      samples[(gsize)n * n_errors * t->n_bins + v] =
          mean(t, &left[r], v / t->n_bins, v % t->n_bins);
    n += touched;
  }
  return n;
}

/* errors: columns of them; covariance: blocks of columns. FALSE: there is no memory. */
static gboolean jackknife(const AstroFieldsTable *t, const AstroFieldsSums *sums, guint *n_used,
                          double *errors, double *covariance)
{
  const guint n_errors = kinds[t->fields].n_errors, n_values = n_errors * t->n_bins;
  g_autofree double *samples = g_try_new(double, (gsize)t->n_regions *n_values),
                    *means = g_try_new(double, n_values);
  g_autofree Planes *left = g_try_new0(Planes, t->n_regions);
  if (!samples || !means || !left)
    return FALSE;
  const gboolean has_room = leave_out(t, sums, left);
  if (has_room)
    *n_used = make_samples(t, sums, left, samples);
  for (guint r = 0; r < t->n_regions; r++)
    planes_free(t, &left[r]);
  if (!has_room)
    return FALSE;
  const guint n = *n_used;
  means_of(samples, n, n_values, means);
  for (guint v = 0; v < n_values; v++)
    errors[v] = sqrt(covariance_of(samples, n, n_values, means, v, v));
  for (guint i = 0; i < n_errors; i++)
    for (guint j = i; j < n_errors; j++)
      for (guint column = 0; column < t->n_bins; column++)
        for (guint row = 0; row < t->n_bins; row++)
          *covariance++ = covariance_of(samples, n, n_values, means, i * t->n_bins + row,
                                        j * t->n_bins + column);
  return TRUE;
}

/* ---- the table ---- */

static void write_fixed(const AstroFieldsTable *t, const AstroFieldsSums *sums, const Planes *all,
                        double *out)
{
  const gsize bins = t->n_bins;
  for (gsize k = 0; k < bins; k++) {
    const double low = sums->edges[k], high = sums->edges[k + 1];
    out[R_NOM * bins + k] = low > 0 ? sqrt(low * high) : high / 2;
    out[LOW * bins + k] = low;
    out[HIGH * bins + k] = high;
    out[MEAN_R * bins + k] = ratio(all, 0, ASTRO_PAIR_PLANE_R, (guint)k);
  }
}

static void write_pairs(const AstroFieldsTable *t, const AstroFieldsSums *sums, const Planes *all,
                        double *out)
{
  const gsize cells = (gsize)t->n_regions * t->n_regions;
  for (gsize k = 0; k < t->n_bins; k++) {
    out[k] = all->planes[0][ASTRO_PAIR_PLANE_WEIGHT].counts[k];
    out[t->n_bins + k] = 0;
    for (gsize cell = 0; cell < cells; cell++)
      out[t->n_bins + k] += (double)sums->counts[cell * t->n_bins + k];
  }
}

gboolean astro_fields_table_write(const AstroFieldsTable *t, const AstroFieldsSums *sums,
                                  AstroTpacfResult *result, double *out, GError **error)
{
  const guint bins = t->n_bins, n_values = kinds[t->fields].n_values,
              n_errors = kinds[t->fields].n_errors;
  double *values = out + N_FIXED * (gsize)bins, *errors = values + (gsize)n_values * bins,
         *pairs = errors + (gsize)n_errors * bins;
  Planes all;
  *result = (AstroTpacfResult){ .n_bins = bins };
  if (!sum_planes(t, sums, &all)) {
    planes_free(t, &all);
    return astro_tpacf_no_memory(error, bins, t->n_regions);
  }
  write_fixed(t, sums, &all, out);
  for (guint v = 0; v < n_values * bins; v++)
    values[v] = mean(t, &all, v / bins, v % bins);
  for (guint e = 0; e < n_errors * bins; e++)
    errors[e] = scatter(t, &all, e % bins);
  for (guint k = 0; k < bins; k++)
    result->n_undefined += isnan(values[k]);
  write_pairs(t, sums, &all, pairs);
  const gboolean done =
      t->n_regions <= 1 || jackknife(t, sums, &result->n_used, errors, pairs + 2 * (gsize)bins);
  planes_free(t, &all);
  return done || astro_tpacf_no_memory(error, bins, t->n_regions);
}
