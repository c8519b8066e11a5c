/* An integration whose spectra were dealt out to several instances, such as one on each of several
 * devices: their visibilities become one. */
#pragma once

#include "core/correlator/correlator.h"

G_BEGIN_DECLS

/* The samples behind all of a part. */
static inline guint32 astro_correlator_part_count(const AstroCorrelatorPart *part, guint64 at)
{
  return part->counts ? part->counts[at] : (guint32)part->samples;
}

/* Adds the counts of another part, n of them, to those of a part, which owns its own. */
void astro_correlator_part_add(AstroCorrelatorPart *part, const AstroCorrelatorPart *other,
                               guint64 n);

/* Whether the blocks of a submit that joins parts are visibilities of this configuration. */
gboolean astro_correlator_check_join(const AstroCorrelatorConfig *config, const AstroBlock *in,
                                     guint n_in, const AstroBlock *out, guint n_out,
                                     GError **error);
/* FALSE, with an error that a sum of that channel of the output does not fit. */
gboolean astro_correlator_refuse_join(guint channel, GError **error);

/* Such a submit, on the host. */
gboolean astro_correlator_join(const AstroCorrelatorConfig *config, const AstroBlock *in,
                               guint n_in, const AstroBlock *out, guint n_out,
                               const AstroCorrelatorPart parts[2], guint threads, GError **error);

G_END_DECLS
