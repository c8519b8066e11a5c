/* Distances of points: as they are in a column, or from redshifts. */
#pragma once

#include "core/lib/catalogue/catalogue.h"

G_BEGIN_DECLS

/* The comoving distance in Mpc/h (h = H0 / (100 km/s/Mpc)) in a flat universe of matter, omega_m of
 * the critical density, and a cosmological constant. Radiation is left out. */
double astro_comoving_distance(double redshift, double omega_m);

/* A distance between two, above 0, such that points are even in volume. */
double astro_random_distance(AstroRandom *random, double min, double max);

/* Reads the value of a column of distances or redshifts. FALSE: it is out of range. */
gboolean astro_catalogue_distance(const AstroCatalogueColumns *columns, double value,
                                  double *distance);
const char *astro_catalogue_distance_expected(const AstroCatalogueColumns *columns);

/* Whether the names and the density of matter belong together; empty names are none. Sets columns
 * accordingly. */
gboolean astro_catalogue_choose_distance(const char *distance_column, const char *redshift_column,
                                         double omega_m, AstroCatalogueColumns *columns,
                                         GError **error);

G_END_DECLS
