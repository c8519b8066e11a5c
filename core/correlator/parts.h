/* An integration whose spectra were dealt out to several instances, such as one on each of several
 * devices: their visibilities become one. */
#pragma once

#include "core/correlator/correlator.h"

G_BEGIN_DECLS

/* The visibilities that one instance has dumped, and what its result said of them. */
typedef struct {
  gconstpointer values;
  guint64 samples;
  const guint32 *counts; /* NULL: complete */
} AstroCorrelatorPart;

/* Adds up sums (CI32LE), or averages means (CF32LE) by their counts, in double: means then differ
 * by no more than 1.2e-7 of their parts from those of one instance. values may be that of a part.
 * The result is filled in as by a dump. A sum that does not fit is an error. */
gboolean astro_correlator_join_parts(const AstroCorrelatorConfig *config,
                                     const AstroCorrelatorPart *parts, guint n, gpointer values,
                                     guint threads, AstroResult *result, GError **error);

G_END_DECLS
