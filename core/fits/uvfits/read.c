/* Reads UVFITS: puts groups together to frames. */
#include "core/fits/uvfits/read.h"
#include "core/fits/uvfits/earth.h"
#include "core/fits/uvfits/reader.h"
#include "core/kit/units.h"
#include "core/lib/rows/weights.h"

#include <math.h>
#include <string.h>

static gboolean recognises(const AstroFitsFile *file)
{
  const AstroFitsHeader *primary = astro_fits_file_primary(file);
  return primary && primary->groups;
}

static void close_reader(gpointer reader)
{
  AstroUvfitsReader *r = reader;
  astro_uvfits_antennas_clear(&r->antennas);
  g_clear_pointer(&r->station_of, g_hash_table_unref);
  g_free(r->order);
  g_free(r->parameters);
  g_free(r->values);
  g_free(r->raw);
  g_free(r);
}

static gpointer open_reader(AstroFitsFile *file, const AstroFitsOptions *options,
                            AstroFitsContents *contents, GError **error)
{
  const AstroRowBasis *basis = NULL;
  AstroUvfitsReader *r = g_new0(AstroUvfitsReader, 1);
  r->file = file;
  r->header = astro_fits_file_primary(file);
  r->ignore_epoch = options && options->ignore_epoch;
  if (!astro_uvfits_read_header(r, &basis, contents, error) ||
      !astro_uvfits_choose_band(r, options ? options->band : NULL, error))
    goto failed;

  /* The file has at least as many bytes per group: see check_size. */
  r->parameters = g_new(double, r->n_parameters);
  r->values = g_new(float, r->group_values);
  r->raw = g_malloc(MAX(r->n_parameters, r->group_values) * (ABS(r->header->bitpix) / 8));
  r->value_scale = 1;
  astro_fits_get_double(r->header, "BSCALE", &r->value_scale);
  astro_fits_get_double(r->header, "BZERO", &r->value_zero);
  r->has_blank = astro_fits_get_integer(r->header, "BLANK", &r->blank);
  if (!astro_uvfits_index_stations(r, error))
    goto failed;
  contents->observation = astro_uvfits_new_observation(r, basis);
  if (!astro_uvfits_sort_groups(r, error) ||
      !astro_uvfits_read_start(r, contents->observation, error) ||
      !astro_uvfits_read_times(r, contents, error) ||
      !astro_uvfits_read_phase_centre(r, contents->observation, error) ||
      !astro_uvfits_read_earth(r, options, contents, error) ||
      !astro_uvfits_describe(r, contents, error) ||
      !astro_uvfits_place_stations(r, options ? options->uvw : ASTRO_FITS_UVW_AUTO, contents,
                                   error) ||
      !astro_uvfits_scale_weights(r, contents, error))
    goto failed;
  return r;

failed:
  close_reader(r);
  return NULL;
}

static guint32 count_of(const AstroUvfitsReader *r, const float *value, guint64 stride)
{
  double weight = r->axes[COMPLEX].n == 3 ? value[2 * stride] : 1;
  return astro_weight_count(weight, r->weight_scale);
}

static guint64 baseline_of(const AstroUvfitsGroup *group)
{
  guint64 i = MAX(group->station[0], group->station[1]),
          j = MIN(group->station[0], group->station[1]);
  return i * (i + 1) / 2 + j;
}

/* Puts a group's values where they belong in a frame. */
static void place_values(AstroUvfitsReader *r, const AstroUvfitsGroup *group, AstroFitsFrame *frame)
{
  guint64 baselines = (guint64)r->antennas.n * (r->antennas.n + 1) / 2,
          baseline = baseline_of(group), stride = r->axes[COMPLEX].stride, per_if = r->axes[FREQ].n,
          from = r->first_if * r->axes[IF].stride, in_if = 0;
  /* The pair is (j, i); we need its conjugate. */
  gboolean swapped = group->station[0] <= group->station[1];
  float sign = swapped == r->conjugated ? 1 : -1;

  for (guint64 c = 0; c < r->channels; c++, from += r->axes[FREQ].stride) {
    if (in_if++ == per_if) {
      from += r->axes[IF].stride - per_if * r->axes[FREQ].stride;
      in_if = 1;
    }
    guint64 to =
        ((r->upside_down ? r->channels - 1 - c : c) * baselines + baseline) * r->pols * r->pols;
    for (guint p = 0; p < ASTRO_ROW_PRODUCTS; p++) {
      const guint8 *pols = astro_row_products[p].pols;
      if (r->product_at[p] < 0)
        continue;
      const float *value = r->values + from + r->product_at[p] * r->axes[STOKES].stride;
      guint64 at = to + pols[swapped] * r->pols + pols[!swapped];
      guint32 count = count_of(r, value, stride);
      if (count && (!isfinite(value[0]) || !isfinite(value[stride]))) {
        frame->not_finite++;
        count = 0;
      }
      frame->counts[at] = count;
      ((float *)frame->data)[2 * at] = count ? value[0] : 0;
      ((float *)frame->data)[2 * at + 1] = count ? sign * value[stride] : 0;
    }
  }
}

/* Our V_ij needs (u,v,w) of i minus j; a group has those of its first station minus its second.
 * Values without (u,v,w) cannot be used. */
static void place_uvw(const AstroUvfitsReader *r, const AstroUvfitsGroup *group,
                      AstroFitsFrame *frame)
{
  const double sign = group->station[0] <= group->station[1] ? -1 : 1;
  const guint64 baselines = (guint64)r->antennas.n * (r->antennas.n + 1) / 2,
                baseline = baseline_of(group);
  const guint products = r->pols * r->pols;
  double uvw[3];
  if (astro_uvfits_group_uvw(r, uvw)) {
    for (guint k = 0; k < 3; k++)
      frame->uvw[3 * baseline + k] = sign * uvw[k];
    return;
  }
  for (guint64 c = 0; c < r->channels; c++)
    for (guint k = 0; k < products; k++) {
      const guint64 at = (c * baselines + baseline) * products + k;
      frame->not_finite += frame->counts[at] > 0;
      frame->counts[at] = 0;
    }
}

/* If integration times vary, a baseline may come again before the first one's time is over. */
static gboolean is_of_next_frame(const AstroUvfitsReader *r, const AstroUvfitsGroup *group,
                                 const AstroUvfitsGroup *first, const guint8 *seen)
{
  return !astro_uvfits_same_time(r, group->middle_ns, first->middle_ns) ||
         (seen[baseline_of(group)] &&
          group->middle_ns - first->middle_ns > ASTRO_UVFITS_NS_OF_ROUNDING);
}

static gboolean read_frame(gpointer reader, AstroFitsFrame *frame, gboolean *end, GError **error)
{
  AstroUvfitsReader *r = reader;
  guint64 stations = r->antennas.n,
          samples = r->channels * (stations * (stations + 1) / 2) * r->pols * r->pols;
  AstroUvfitsGroup first, group;

  if (r->next == r->n_groups) {
    *end = TRUE;
    return FALSE;
  }
  if (!astro_uvfits_read_group(r, r->next, &first, error))
    return FALSE;
  if (r->any_before && first.middle_ns < r->last_ns)
    return astro_fits_wrong(r->file, error,
                            "group %" G_GUINT64_FORMAT
                            " is %g s earlier than the previous group: sort the file by time "
                            "first",
                            astro_uvfits_place(r, r->next) + 1,
                            (r->last_ns - first.middle_ns) / ASTRO_NS_PER_SECOND);
  memset(frame->data, 0, samples * 2 * sizeof(float));
  memset(frame->counts, 0, samples * sizeof *frame->counts);
  if (r->metres_per_unit > 0)
    memset(frame->uvw, 0, 3 * (stations * (stations + 1) / 2) * sizeof *frame->uvw);
  frame->not_finite = 0;

  g_autofree guint8 *seen = g_malloc0(stations * (stations + 1) / 2);
  group = first;
  do {
    if (seen[baseline_of(&group)]++)
      return astro_fits_wrong(r->file, error,
                              "group %" G_GUINT64_FORMAT
                              " is the second one for stations %d and %d in one integration",
                              astro_uvfits_place(r, r->next) + 1,
                              r->antennas.numbers[MIN(group.station[0], group.station[1])],
                              r->antennas.numbers[MAX(group.station[0], group.station[1])]);
    if (!astro_uvfits_read_values(r, r->next, error))
      return FALSE;
    place_values(r, &group, frame);
    if (r->metres_per_unit > 0)
      place_uvw(r, &group, frame);
    if (++r->next < r->n_groups && !astro_uvfits_read_group(r, r->next, &group, error))
      return FALSE;
  } while (r->next < r->n_groups && !is_of_next_frame(r, &group, &first, seen));

  r->any_before = TRUE;
  r->last_ns = first.middle_ns;
  for (guint64 b = 0; frame->absent && b < stations * (stations + 1) / 2; b++)
    frame->absent[b] = !seen[b];
  frame->full = r->full;
  frame->duration_ns = astro_uvfits_length(r, &first);
  frame->start_ns = first.middle_ns - frame->duration_ns / 2;
  return TRUE;
}

const AstroFitsReaderKind astro_uvfits_reader = {
  "UVFITS", ASTRO_UVFITS_ROWS_CAPS, recognises, open_reader, NULL, read_frame, close_reader,
};
