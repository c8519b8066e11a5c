/* Statistics made of xi in bins of (s, mu) or (rp, pi). */
#include "core/tpacf/sums.h"

#include "core/kit/enum.h"
#include "core/kit/fail.h"
#include "core/tpacf/tpacf.h"

ASTRO_ENUM_TYPE(astro_statistic_get_type, "AstroStatistic",
                { ASTRO_STATISTIC_AUTO, "w(theta) of pairs by angle, xi in every bin in space",
                  "auto" },
                { ASTRO_STATISTIC_XI, "xi(s, mu) or xi(rp, pi), in every bin", "xi" },
                { ASTRO_STATISTIC_MULTIPOLES, "xi_0, xi_2 and xi_4 of xi(s, mu)", "multipoles" },
                { ASTRO_STATISTIC_WEDGES, "Means of xi(s, mu) over even ranges of mu", "wedges" },
                { ASTRO_STATISTIC_WP, "w_p(rp), twice the integral of xi(rp, pi) over pi", "wp" })

const guint astro_multipoles[ASTRO_N_MULTIPOLES] = { 0, 2, 4 };

static const struct {
  const char *name;
  AstroAxis across; /* that it needs; NONE: any */
} statistics[] = { [ASTRO_STATISTIC_AUTO] = { "auto", ASTRO_AXIS_NONE },
                   [ASTRO_STATISTIC_XI] = { "xi", ASTRO_AXIS_NONE },
                   [ASTRO_STATISTIC_MULTIPOLES] = { "multipoles", ASTRO_AXIS_MU },
                   [ASTRO_STATISTIC_WEDGES] = { "wedges", ASTRO_AXIS_MU },
                   [ASTRO_STATISTIC_WP] = { "wp", ASTRO_AXIS_PI } };

gboolean astro_statistic_check(AstroStatistic statistic, AstroAxis across, guint n_columns,
                               guint wedges, GError **error)
{
  const AstroAxis needed = statistics[statistic].across;
  if (needed != ASTRO_AXIS_NONE && needed != across)
    return astro_fail(error, ASTRO_TPACF_ERROR, ASTRO_TPACF_ERROR_STATISTIC,
                      "statistic=%s needs pairs in bins of %s, expected a histogram of kind=%s",
                      statistics[statistic].name, needed == ASTRO_AXIS_MU ? "mu" : "pi",
                      needed == ASTRO_AXIS_MU ? "smu" : "rppi");
  if (statistic == ASTRO_STATISTIC_XI && across == ASTRO_AXIS_NONE)
    return astro_fail(error, ASTRO_TPACF_ERROR, ASTRO_TPACF_ERROR_STATISTIC,
                      "statistic=xi needs pairs in space, expected a histogram of kind=smu or "
                      "kind=rppi, or statistic=auto");
  return statistic != ASTRO_STATISTIC_WEDGES || n_columns % wedges == 0 ||
         astro_fail(error, ASTRO_TPACF_ERROR, ASTRO_TPACF_ERROR_STATISTIC,
                    "%u wedges of %u bins of mu, expected as many bins in each", wedges, n_columns);
}

guint astro_statistic_sums(AstroStatistic statistic, guint wedges)
{
  switch (statistic) {
  case ASTRO_STATISTIC_MULTIPOLES:
    return ASTRO_N_MULTIPOLES;
  case ASTRO_STATISTIC_WEDGES:
    return wedges;
  case ASTRO_STATISTIC_WP:
    return 1;
  case ASTRO_STATISTIC_AUTO:
  case ASTRO_STATISTIC_XI:
    break;
  }
  return 0;
}

static double legendre(guint ell, double mu)
{
  double before = 1, here = mu;
  if (ell == 0)
    return 1;
  for (guint l = 1; l < ell; l++) {
    const double next = ((2 * l + 1) * mu * here - l * before) / (l + 1);
    before = here;
    here = next;
  }
  return here;
}

/* (2 ell + 1) times the integral of the Legendre polynomial from 0 to mu, for an even ell. */
static double integral(guint ell, double mu)
{
  return ell == 0 ? mu : legendre(ell + 1, mu) - legendre(ell - 1, mu);
}

static double share_of(AstroStatistic statistic, const AstroTpacfSums *sums, guint sum,
                       guint column, double most_across)
{
  const double n = sums->n_columns;
  const guint of_wedge = sums->n_columns / sums->n_sums;
  if (statistic == ASTRO_STATISTIC_MULTIPOLES)
    return integral(astro_multipoles[sum], (column + 1) / n) -
           integral(astro_multipoles[sum], column / n);
  if (statistic == ASTRO_STATISTIC_WEDGES)
    return column / of_wedge == sum ? 1.0 / of_wedge : 0;
  return 2 * most_across / n;
}

gboolean astro_sums_init(AstroTpacfSums *sums, AstroStatistic statistic, guint n_columns,
                         double most_across, guint wedges, GError **error)
{
  *sums = (AstroTpacfSums){ astro_statistic_sums(statistic, wedges), n_columns, NULL };
  if (statistic == ASTRO_STATISTIC_MULTIPOLES && most_across != 1)
    return astro_fail(error, ASTRO_TPACF_ERROR, ASTRO_TPACF_ERROR_STATISTIC,
                      "multipoles are integrals over all mu, but pairs are counted up to mu = %g: "
                      "expected mu-max=1",
                      most_across);
  sums->shares = g_try_new(double, MAX((gsize)sums->n_sums * n_columns, 1));
  if (!sums->shares)
    return astro_fail(error, ASTRO_TPACF_ERROR, ASTRO_TPACF_ERROR_MEMORY,
                      "no memory for %u sums over %u bins of mu or pi", sums->n_sums, n_columns);
  for (guint sum = 0; sum < sums->n_sums; sum++)
    for (guint column = 0; column < n_columns; column++)
      sums->shares[sum * n_columns + column] = share_of(statistic, sums, sum, column, most_across);
  return TRUE;
}

void astro_sums_clear(AstroTpacfSums *sums)
{
  g_clear_pointer(&sums->shares, g_free);
}
