/* The tables of astrotpacf, as they follow from its settings and the caps of histograms. */
#pragma once

#include "core/tpacf/fields-table.h"
#include "core/tpacf/space-table.h"
#include "core/tpacf/tpacf.h"

G_BEGIN_DECLS

#define ASTRO_TPACF_CSV "text/csv"

typedef struct {
  AstroEstimator estimator;
  AstroStatistic statistic;
  guint wedges;
  gboolean integral_constraint;
} AstroTpacfSettings;

/* The shape of the table of pairs in space. across is NONE for pairs by angle. */
AstroSpaceTable astro_tpacf_space(const AstroTpacfSettings *settings, const GstCaps *in);
/* That of fields; fields is NONE where points carry nothing. */
AstroFieldsTable astro_tpacf_fields(const GstCaps *in);
/* The names of the table's columns, joined by colons. */
char *astro_tpacf_columns(const AstroTpacfSettings *settings, const GstCaps *in);
/* Offers the table first, then its text. */
GstCaps *astro_tpacf_caps(const AstroTpacfSettings *settings, const GstCaps *in);
/* Whether the settings can be met with such histograms. */
gboolean astro_tpacf_check_caps(const AstroTpacfSettings *settings, const GstCaps *caps,
                                GError **error);

G_END_DECLS
