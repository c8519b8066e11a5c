/* PSRFITS, the FITS of pulsar observatories: detected power in search mode is read and written as
 * application/x-astro-power, and folded profiles (application/x-astro-profile) are written.
 *
 * The primary header tells of telescope, source and start. The rows of the table SUBINT are
 * sub-integrations: NSBLK time steps of NPOL products of NCHAN channels in the column DATA,
 * channels fastest, in NBITS bits. A number in a file stands for (number - ZERO_OFF) DAT_SCL +
 * DAT_OFFS, with a scale and an offset for each product and channel of a row. DAT_WTS is the weight
 * of each channel in a row, and OFFS_SUB the time from the start to the row's middle.
 *
 * Signs follow the pulsar astronomers' convention (van Straten et al. 2010, PASA 27, 104): there V
 * is left minus right circular, where the IAU, and with it our streams, have right minus left; and
 * CR + i CI is <conj(A) B>, where ours is <X conj(Y)>. Both are converted in reading and writing.
 */
#pragma once

#include "core/fits/fits.h"
#include "core/fits/reader.h"
#include "core/stream/power.h"

G_BEGIN_DECLS

#define ASTRO_PSRFITS_MAX_POLS 4
/* A keyword of our own in the header of SUBINT: the count of a value without losses, of which the
 * weights are fractions. */
#define ASTRO_PSRFITS_FULL "CNTFULL"

extern const AstroFitsReaderKind astro_psrfits_reader;
extern const AstroFitsWriterKind astro_psrfits_search_writer, astro_psrfits_fold_writer;

/* Whether a primary header says that a file is PSRFITS, and whether it is in search mode. */
gboolean astro_psrfits_is(const AstroFitsHeader *primary);
gboolean astro_psrfits_is_search(const AstroFitsHeader *primary);

/* The axis of polarisations of DATA. */
typedef struct {
  AstroPowerProducts products;         /* in the order of the file */
  float signs[ASTRO_PSRFITS_MAX_POLS]; /* 1 or -1: what the file's values are multiplied by */
  gboolean is_circular;                /* the receiver's A and B are L and R */
} AstroPsrfitsPols;

/* hand: FD_HAND, 1 if A is X or L, -1 if A is Y or R. phase: BE_PHASE, -1 if the sign of CI is
 * reversed. FALSE: there is no such POL_TYPE, or it is not one of that many polarisations. */
gboolean astro_psrfits_pols_of(AstroPsrfitsPols *pols, const char *pol_type, guint n,
                               gboolean is_circular, gint hand, gint phase);
/* The POL_TYPE of products, in any order, written with FD_HAND and BE_PHASE 1; NULL: PSRFITS has
 * none. order: for each polarisation of the file the index of the product. The observation tells
 * the receiver where products do not. */
const char *astro_psrfits_pol_type(const AstroPowerProducts *products,
                                   const AstroObservation *observation, AstroPsrfitsPols *pols,
                                   guint order[ASTRO_PSRFITS_MAX_POLS]);

G_END_DECLS
