/* The scale-invariant rank operator (Offringa, van de Gronde and Roerdink 2012, A&A 539, A95), with
 * a fifth: a value is flagged if it lies in any stretch, along time or frequency, of which at least
 * four fifths are flagged. Flags grow over small holes, and at their ends, in proportion to their
 * length. Values that are missing count for neither. */
#pragma once

#include "core/flag/plane.h"

G_BEGIN_DECLS

void astro_flag_extend(AstroFlagPlane *plane);

G_END_DECLS
