/* What has been done to a stream, as its observation says: so that no stage does it twice, or takes
 * for done what is not. */
#pragma once

#include <gst/gst.h>

#include "core/stream/stream.h"

ASTRO_BEGIN_DECLS

/* Of the observation's phase centre: whether the wave from there still reaches stations at
 * different times. */
typedef enum {
  ASTRO_DELAYS_UNTOLD, /* nobody said: in voltages and spectra they are, in visibilities not */
  ASTRO_DELAYS_IN,
  ASTRO_DELAYS_OUT,
} AstroDelays;

/* A checksum says which calibration it was: the same one again has nothing left to do, another one
 * would be applied on top. NULL: none. */
typedef struct {
  AstroDelays delays;
  gboolean filter_bank;     /* the first channel of spectra is centred on the band's lower edge */
  gboolean sideband_turned; /* came upside down */
  char *gains;              /* checksum of the instrument's gains and delays that were undone */
  char *bandpass;           /* of the bandpass that was undone */
  char *bandpass_left;      /* of one that is to be, once there are spectra */
  /* Voltages and spectra are samples of so many steps per root of Jy; what is made of their
   * products is Jy over its square. 0: not known. */
  double scale;
} AstroHistory;

void astro_history_copy(AstroHistory *to, const AstroHistory *from);
void astro_history_clear(AstroHistory *history);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AstroHistory, astro_history_clear)
/* Puts text in place of one of the checksums. */
void astro_history_set_text(char **field, const char *text);

/* What was done to one and not to the other, or otherwise: a name of the event's fields. NULL: the
 * same was done to both. */
const char *astro_history_find_difference(const AstroHistory *a, const AstroHistory *b,
                                          AstroQuantity quantity);

/* What nobody said is what is usual of that kind of stream. */
AstroDelays astro_history_delays(const AstroHistory *history, AstroQuantity quantity);
/* That products of samples (visibilities, grids, images) are multiplied by to be Jy; 0: not known.
 */
double astro_history_jansky(const AstroHistory *history);

/* Of images made of such a stream; what is not known to be Jy does not say so. done: NULL where
 * there is no observation. */
gboolean astro_history_is_jansky(const AstroHistory *done);
const char *astro_history_image_unit(const AstroHistory *done, gboolean is_model);

void astro_history_to_structure(const AstroHistory *history, GstStructure *s);
/* Fields may be left out. Fills in history, which has to be empty. */
gboolean astro_history_from_structure(AstroHistory *history, const GstStructure *s, GError **error);

ASTRO_END_DECLS
