/* Pictures of correlation functions in space: xi as a map over mu or pi, its multipoles and wp as
 * points with error bars. */
#pragma once

#include "core/render/panel.h"

G_BEGIN_DECLS

typedef struct _SpaceCorrelation SpaceCorrelation;

/* Whether a table has such columns. */
gboolean space_correlation_is_in(char **columns);
gint space_correlation_column(char **columns, const char *name); /* -1: not there */

SpaceCorrelation *space_correlation_open(const AstroRenderInput *in, GArray *panels,
                                         GError **error);
void space_correlation_take(SpaceCorrelation *correlation, const double *table, AstroPanel *panels);

G_END_DECLS
