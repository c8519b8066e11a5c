/* Reads the header of UVFITS: axes, parameters, products, stations and the phase centre. */
#include "core/fits/uvfits/reader.h"
#include "core/fits/units.h"
#include "core/kit/units.h"

#include <math.h>
#include <string.h>

static const char *const axis_names[N_KNOWN_AXES] = {
  "COMPLEX", "STOKES", "FREQ", "IF", "RA", "DEC"
};

/* Other axes are allowed if their length is 1. */
static gboolean read_axes(AstroUvfitsReader *r, GError **error)
{
  for (guint k = 0; k < N_KNOWN_AXES; k++)
    r->axes[k] = (AstroUvfitsAxis){ .n = 1, .pixel = 1, .delta = 1 };
  r->group_values = 1;
  for (guint i = 1; i < r->header->n_axes; i++) {
    guint64 length = r->header->axes[i];
    const char *type = "";
    gint known = -1;
    astro_fits_get_string_n(r->header, "CTYPE", i + 1, &type);
    for (guint k = 0; k < N_KNOWN_AXES; k++)
      if (g_str_equal(type, axis_names[k]))
        known = k;
    if (length < 1 || (known < 0 && length > 1))
      return astro_fits_wrong(r->file, error,
                              "axis %d is \"%s\" with %" G_GUINT64_FORMAT
                              " values, expected COMPLEX, STOKES, FREQ, IF, RA or DEC "
                              "with at least one, or another axis with one",
                              i + 1, type, length);
    if (known >= 0) {
      AstroUvfitsAxis *axis = &r->axes[known];
      if (axis->found)
        return astro_fits_wrong(r->file, error, "axis %d is a second axis \"%s\"", i + 1, type);
      axis->found = TRUE;
      axis->n = length;
      axis->stride = r->group_values;
      astro_fits_get_double_n(r->header, "CRVAL", i + 1, &axis->value);
      astro_fits_get_double_n(r->header, "CRPIX", i + 1, &axis->pixel);
      astro_fits_get_double_n(r->header, "CDELT", i + 1, &axis->delta);
    }
    if (r->group_values > G_MAXINT32 / length)
      return astro_fits_wrong(r->file, error, "a group has more than %d values", G_MAXINT32);
    r->group_values *= length;
  }

  const AstroUvfitsAxis *a = r->axes;
  if (!a[COMPLEX].found || a[COMPLEX].n < 2 || a[COMPLEX].n > 3)
    return astro_fits_wrong(r->file, error,
                            "axis COMPLEX has %" G_GUINT64_FORMAT
                            " values, expected 2 or 3 (re, im, weight)",
                            a[COMPLEX].found ? a[COMPLEX].n : 0);
  if (!a[FREQ].found || !(a[FREQ].value > 0) || a[FREQ].delta == 0)
    return astro_fits_wrong(r->file, error,
                            "axis FREQ is missing or has value %g and step %g, expected Hz",
                            a[FREQ].value, a[FREQ].delta);
  if (a[RA].n != 1 || a[DEC].n != 1)
    return astro_fits_wrong(r->file, error,
                            "axes RA and DEC have %" G_GUINT64_FORMAT " and %" G_GUINT64_FORMAT
                            " values, expected one each",
                            a[RA].n, a[DEC].n);
  return TRUE;
}

/* Names of (u,v,w) continue with a projection, as in UU---SIN; projected on the pole (NCP) they are
 * something else. */
static gboolean is_named(const char *type, AstroUvfitsParameter p)
{
  const char *name = astro_uvfits_parameters[p].name;
  return g_str_equal(type, name) ||
         (p <= WW && g_str_has_prefix(type, name) && !g_str_has_suffix(type, "NCP"));
}

static gboolean read_parameters(AstroUvfitsReader *r, GError **error)
{
  if (r->header->n_parameters < 1 || r->header->n_parameters > ASTRO_UVFITS_MAX_PARAMETERS ||
      r->header->n_groups < 1)
    return astro_fits_wrong(r->file, error,
                            "PCOUNT %" G_GUINT64_FORMAT " and GCOUNT %" G_GUINT64_FORMAT
                            ", expected 1 to %d parameters and a group",
                            r->header->n_parameters, r->header->n_groups,
                            ASTRO_UVFITS_MAX_PARAMETERS);
  r->n_parameters = r->header->n_parameters;
  r->n_groups = r->header->n_groups;

  for (guint k = 0; k < N_KNOWN_PARAMETERS; k++)
    r->place[k] = -1;
  for (guint i = 0; i < r->n_parameters; i++) {
    const char *type = "";
    r->scale[i] = 1;
    astro_fits_get_string_n(r->header, "PTYPE", i + 1, &type);
    type += *type == '_'; /* which users of astropy put before a name that appears twice */
    astro_fits_get_double_n(r->header, "PSCAL", i + 1, &r->scale[i]);
    astro_fits_get_double_n(r->header, "PZERO", i + 1, &r->zero[i]);
    for (guint k = 0; k < N_KNOWN_PARAMETERS; k++)
      if (r->place[k] < 0 && is_named(type, k)) {
        r->place[k] = i;
        break;
      }
  }
  if (r->place[DATE] < 0)
    return astro_fits_wrong(r->file, error, "no parameter DATE");
  if (r->place[BASELINE] < 0 && (r->place[ANTENNA1] < 0 || r->place[ANTENNA2] < 0))
    return astro_fits_wrong(r->file, error,
                            "neither a parameter BASELINE nor ANTENNA1 and ANTENNA2");
  return TRUE;
}

/* It is better to report a truncated file at once than in the middle. */
static gboolean check_size(const AstroUvfitsReader *r, GError **error)
{
  guint64 there = astro_fits_file_bytes(r->file);
  there -= MIN(there, r->header->data);
  if (r->header->bytes <= there)
    return TRUE;
  return astro_fits_wrong(r->file, error,
                          "cut short: the header announces %" G_GUINT64_FORMAT
                          " groups of %" G_GUINT64_FORMAT
                          " values but the file ends after %" G_GUINT64_FORMAT " bytes of them",
                          r->n_groups, r->n_parameters + r->group_values, there);
}

/* A stream with one polarisation has only one name for it in each basis. */
static void note_other_name(AstroUvfitsReader *r, const AstroRowBasis *basis, double stokes,
                            AstroFitsContents *contents)
{
  const gsize column = (gsize)(basis - astro_row_bases);
  if (stokes == basis->first)
    return;
  astro_fits_contents_note(contents, astro_fits_file_name(r->file),
                           "its visibilities are %s, but will be called %s",
                           astro_row_products[(gsize)(basis->first - stokes)].name[column],
                           astro_row_products[0].name[column]);
}

static gboolean read_products(AstroUvfitsReader *r, const AstroRowBasis **basis,
                              AstroFitsContents *contents, GError **error)
{
  const AstroUvfitsAxis *a = &r->axes[STOKES];
  double first = a->value + (1 - a->pixel) * a->delta;

  *basis = &astro_row_bases[first < 0 && first > -4.5 ? ASTRO_ROW_CIRCULAR : ASTRO_ROW_LINEAR];
  for (guint p = 0; p < ASTRO_ROW_PRODUCTS; p++)
    r->product_at[p] = -1;
  r->pols = 1;
  /* A single receiver gives one parallel hand or total intensity. */
  if (!a->found ||
      (a->n == 1 && (first == 1 || first == -1 || first == -2 || first == -5 || first == -6))) {
    r->product_at[0] = 0;
    if (a->found && first == 1)
      *basis = &astro_row_bases[ASTRO_ROW_STOKES];
    if (a->found)
      note_other_name(r, *basis, first, contents);
    return TRUE;
  }
  for (guint64 s = 0; s < a->n; s++) {
    double product = (*basis)->first - (first + s * a->delta);
    if (!(product >= 0 && product < ASTRO_ROW_PRODUCTS) || product != floor(product))
      return astro_fits_wrong(
          r->file, error,
          "axis STOKES has the value %g, expected correlations (-1 to -4 or -5 to -8), or "
          "only Stokes I (1)",
          first + s * a->delta);
    r->product_at[(guint)product] = s;
  }
  r->pols = 2;
  return TRUE;
}

/* X points north in our streams. Where a file's X points east, its Y points north. Versions of
 * pyuvdata before 3.2 have a keyword for it. */
static void turn_products(AstroUvfitsReader *r, const AstroRowBasis *basis,
                          AstroFitsContents *contents)
{
  const char *told = "";
  gboolean is_east = r->antennas.are_east;
  if (astro_fits_get_string(r->header, "XORIENT", &told) && *told)
    is_east = astro_row_is_east(told);
  if (!is_east || r->pols != 2 || basis != &astro_row_bases[ASTRO_ROW_LINEAR])
    return;
  astro_row_exchange_feeds(r->product_at);
  astro_fits_contents_note(contents, astro_fits_file_name(r->file),
                           "X points east (%s): its X are called Y, and its Y X, since X points "
                           "north in streams",
                           *told ? "XORIENT" : "POLAA of table AIPS AN");
}

gboolean astro_uvfits_read_header(AstroUvfitsReader *r, const AstroRowBasis **basis,
                                  AstroFitsContents *contents, GError **error)
{
  if (!read_axes(r, error) || !read_parameters(r, error) || !check_size(r, error) ||
      !read_products(r, basis, contents, error) ||
      !astro_uvfits_read_antennas(r->file, &r->antennas, error))
    return FALSE;
  turn_products(r, *basis, contents);
  return TRUE;
}

typedef struct {
  double ra, dec, equinox;
} Place;

/* Looks up a source in the table of sources; FALSE without an error if it is not there. */
static gboolean read_source(AstroUvfitsReader *r, double source, Place *place, GError **error)
{
  const AstroFitsHeader *header = astro_fits_file_find_table(r->file, "AIPS SU");
  AstroFitsTable table;
  gboolean found = FALSE;
  if (!header || !astro_fits_table_open(&table, r->file, header, error))
    return FALSE;
  const AstroFitsColumn *id = astro_fits_table_find(&table, "ID. NO.", FALSE, 1);
  const AstroFitsColumn *ra = astro_fits_table_find(&table, "RAEPO", FALSE, 1);
  const AstroFitsColumn *dec = astro_fits_table_find(&table, "DECEPO", FALSE, 1);
  const AstroFitsColumn *equinox = astro_fits_table_find(&table, "EPOCH", FALSE, 1);
  guint64 rows = id && ra && dec ? table.n_rows : 0;
  for (guint64 row = 0; row < rows && !found && astro_fits_table_read(&table, row, error); row++)
    if ((found = astro_fits_table_number(&table, id, 0) == source)) {
      place->ra = astro_fits_table_number(&table, ra, 0);
      place->dec = astro_fits_table_number(&table, dec, 0);
      place->equinox = equinox ? astro_fits_table_number(&table, equinox, 0) : place->equinox;
    }
  astro_fits_table_clear(&table);
  return found;
}

/* If groups name their source, its position in the table counts, whatever the axes say: in a file
 * of several sources they may have the position of another one, or none. */
gboolean astro_uvfits_read_phase_centre(AstroUvfitsReader *r, AstroObservation *o, GError **error)
{
  g_autoptr(GError) broken = NULL;
  const AstroUvfitsAxis *ra = &r->axes[RA], *dec = &r->axes[DEC];
  Place place = { ra->value, dec->value, 2000 };
  if (!astro_fits_get_double(r->header, "EQUINOX", &place.equinox))
    astro_fits_get_double(r->header, "EPOCH", &place.equinox);
  if (r->place[SOURCE] >= 0 && r->first_source > 0 &&
      !read_source(r, r->first_source, &place, &broken) &&
      (broken || !ra->found || (place.ra == 0 && place.dec == 0))) {
    if (!broken)
      return astro_fits_wrong(r->file, error,
                              "groups have source %g, but no table AIPS SU has its position",
                              r->first_source);
    g_propagate_error(error, g_steal_pointer(&broken));
    return FALSE;
  }
  if (place.equinox != 2000 && !r->ignore_epoch)
    return astro_fits_wrong(r->file, error,
                            "EQUINOX is %g, expected 2000 (ignore-epoch=true takes the phase "
                            "centre as of 2000 all the same)",
                            place.equinox);
  if (!(fabs(place.dec) <= 90) || !(fabs(place.ra) <= 360))
    return astro_fits_wrong(r->file, error,
                            "the phase centre is at RA %g and declination %g degrees", place.ra,
                            place.dec);
  o->has_phase_centre = TRUE;
  o->phase_ra = place.ra * ASTRO_DEGREE;
  o->phase_dec = place.dec * ASTRO_DEGREE;
  return TRUE;
}

/* As in astro_history_jansky(); Jy followed by something else is a different unit. */
static double read_scale(const AstroFitsHeader *header)
{
  const char *unit = "", *rest;
  astro_fits_get_string(header, "BUNIT", &unit);
  const double jansky = astro_fits_unit_factor(unit, "Jy", &rest);
  return jansky > 0 && !rest[strspn(rest, " ")] ? 1 / sqrt(jansky) : 0;
}

AstroObservation *astro_uvfits_new_observation(const AstroUvfitsReader *r,
                                               const AstroRowBasis *basis)
{
  AstroObservation *o = astro_observation_new(r->antennas.n);
  const char *telescope = "", *delays = "";
  if (!astro_fits_get_string(r->header, "TELESCOP", &telescope) || !telescope[0])
    telescope = r->antennas.array;
  astro_fits_get_string(r->header, ASTRO_UVFITS_DELAYS, &delays);
  o->done.delays = g_str_equal(delays, "IN") ? ASTRO_DELAYS_IN : ASTRO_DELAYS_OUT;
  o->done.scale = read_scale(r->header);
  g_free(o->telescope);
  o->telescope = g_utf8_make_valid(telescope[0] ? telescope : ASTRO_TELESCOPE_UNKNOWN, -1);
  g_free(o->basis);
  o->basis = g_strdup(basis->basis);
  for (guint i = 0; i < r->antennas.n; i++) {
    g_free(o->names[i]);
    o->names[i] = g_strdup(r->antennas.names[i]);
  }
  return o;
}
