/* Headers of VDIF 1.1.1, the VLBI data interchange format, in packets and in recordings. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define ASTRO_VDIF_HEADER 32
#define ASTRO_VDIF_LEGACY_HEADER 16
#define ASTRO_VDIF_UNIT 8 /* bytes in a unit of a frame's length */
#define ASTRO_VDIF_FRAME_BITS 24
#define ASTRO_VDIF_MOST_LOG_CHANNELS 16
#define ASTRO_VDIF_WORD_BITS 32
/* The version of the extended data of frames of Mark 5B, whose samples have its codes. */
#define ASTRO_VDIF_MARK5B 0xab

#define ASTRO_VDIF_ERROR astro_vdif_error_quark()
typedef enum {
  ASTRO_VDIF_ERROR_ALIEN, /* the bytes are not a frame */
  ASTRO_VDIF_ERROR_WRITE, /* something does not fit in a header */
} AstroVdifError;
GQuark astro_vdif_error_quark(void);

typedef struct {
  gboolean is_legacy; /* 16-byte header */
  gboolean is_valid;  /* FALSE: the sender says that the samples must not be used */
  gboolean is_complex;
  guint bits; /* of a component, 1 to 32 */
  guint log_channels;
  guint station, thread;
  gint64 second;   /* UTC since 1970, without leap seconds */
  guint epoch;     /* half years since 2000, as the header has them */
  guint64 since;   /* seconds since then, with leap seconds; writing takes both from second */
  guint64 frame;   /* within the second */
  guint extension; /* version of the extended data; 0 in a legacy header */
  guint64 rate;    /* complete samples a second, in a header of the VLBA (version 3); 0: not told */
  guint64 claimed; /* the same in version 1, of which programs disagree what it means */
  gsize header, bytes; /* lengths of the header and of the whole frame */
} AstroVdif;

/* size: bytes that the frame may have; of these the first ASTRO_VDIF_HEADER, or all if they are
 * fewer, are read. FALSE: they do not begin with a frame. */
gboolean astro_vdif_parse(const guint8 *bytes, gsize size, AstroVdif *vdif, GError **error);

/* Writes a header of vdif->header bytes, which is_legacy decides. The version of the extended data
 * follows from the rate and the length. FALSE: the header cannot express the frame. */
gboolean astro_vdif_write(const AstroVdif *vdif, guint8 header[ASTRO_VDIF_HEADER], GError **error);

/* Components in a little-endian word of 32 bits, for so many of so many bits that make up a
 * complete sample. 0: there is no agreed way to pack them. */
guint astro_vdif_word_components(guint64 of_sample, guint bits);
/* Complete samples, which are steps of time, in a frame. 0: they do not fill whole words. */
guint64 astro_vdif_steps(const AstroVdif *vdif);

G_END_DECLS
