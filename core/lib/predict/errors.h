/* Errors of stations: gains that are not 1, and lost data. All of them follow from the seed. */
#pragma once

#include <complex.h>
#include <glib.h>

/* For each station and polarisation: (1 + gain_error x) exp(i phase_error y), x and y Gaussian. */
complex double *astro_predict_gains(guint stations, guint pols, double gain_error,
                                    double phase_error, guint64 seed);

/* One bit for each piece of an integration that a station has. */
void astro_predict_losses(guint stations, guint64 number, double loss, guint64 seed,
                          guint8 *pieces);
