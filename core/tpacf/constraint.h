/* The integral constraint: what w lacks since the mean density is that of the same field. */
#pragma once

#include "core/tpacf/left-out.h"
#include "core/tpacf/tpacf.h"

G_BEGIN_DECLS

AstroPowerLawBins bins_of(const AstroTpacfResult *result);

/* The estimated w is too low by C = sum(rr w) / sum(rr), since the mean density is that of the same
 * field. C follows from the power law that best fits w + C; this is iterated, for some 300 rounds
 * if w is nearly flat. If w is flat (points without clustering), every C gives a larger one, and
 * none is added. FALSE: there is no memory. */
gboolean constrain(const Sum *rr, AstroTpacfResult *result);

G_END_DECLS
