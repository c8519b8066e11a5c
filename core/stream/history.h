/* Keeps a record of what has been done to a stream, so that no stage does it twice or relies on
 * something that was not done. It is part of the observation. */
#pragma once

#include <gst/gst.h>

#include "core/stream/stream.h"

ASTRO_BEGIN_DECLS

/* Whether the wave from the observation's phase centre still reaches the stations at different
 * times. */
typedef enum {
  ASTRO_DELAYS_UNTOLD, /* unknown: taken as in for voltages and spectra, as out for visibilities */
  ASTRO_DELAYS_IN,     /* still in the stream */
  ASTRO_DELAYS_OUT,    /* removed */
} AstroDelays;

/* A checksum identifies a calibration: if the same one comes again nothing is left to do; another
 * one would be applied on top of it. NULL: none. */
typedef struct {
  AstroDelays delays;
  char *delays_centre;  /* "x,y,z", metres: the place where waves of stations that had their delays
                           removed meet; NULL: unknown, or delays are in */
  gboolean filter_bank; /* the first channel of spectra is centred on the band's lower edge */
  gboolean sideband_turned; /* the band was reversed */
  char *gains;         /* checksum of the instrument's gains and delays that were divided out */
  char *bandpass;      /* checksum of the bandpass that was divided out */
  char *bandpass_left; /* checksum of a bandpass still to be divided out, once there are spectra */
  /* Steps of voltages and spectra per root of Jy: products of samples divided by the square of
   * scale are in Jy. 0: unknown. */
  double scale;
  char *subtracted;   /* checksums of the models that were subtracted, joined by ','; NULL: none */
  char *predicted;    /* checksum of the model that visibilities were made of; NULL: of none */
  char *primary_beam; /* in words: the beam that images were divided by; NULL: none */
} AstroHistory;

void astro_history_copy(AstroHistory *to, const AstroHistory *from);
void astro_history_clear(AstroHistory *history);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AstroHistory, astro_history_clear)
/* Replaces one of the texts. */
void astro_history_set_text(char **field, const char *text);

#define ASTRO_HISTORY_DELAYS_CENTRE "delays-centre"
/* The field of the event in which the two histories differ; NULL if they do not. */
const char *astro_history_find_difference(const AstroHistory *a, const AstroHistory *b,
                                          AstroQuantity quantity);

/* Whether delays are in the stream; if unknown, what is usual for that kind of stream. */
AstroDelays astro_history_delays(const AstroHistory *history, AstroQuantity quantity);
/* The factor that converts products of samples (visibilities, grids, images) to Jy; 0: unknown. */
double astro_history_jansky(const AstroHistory *history);

/* The unit of images made of the stream: Jy only if it is known. done: NULL if there is no
 * observation. */
gboolean astro_history_is_jansky(const AstroHistory *done);
const char *astro_history_image_unit(const AstroHistory *done, gboolean is_model);

void astro_history_to_structure(const AstroHistory *history, GstStructure *s);
/* Fields may be missing. history must be empty. */
gboolean astro_history_from_structure(AstroHistory *history, const GstStructure *s, GError **error);

ASTRO_END_DECLS
