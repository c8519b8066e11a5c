/* Descriptors of heaps of results. A descriptor is a SPEAD packet within a heap. */
#include "config.h"
#include "core/packets/results-describe.h"

#include <string.h>
#include "core/packets/formats.h"
#include "core/packets/spead.h"

#define ADDRESS 48
/* A field of a format: a letter, then its bits in two bytes. */
#define FORMAT_BYTES 3
/* An axis of a shape: 1 if it has any length, else its length in six bytes. */
#define SHAPE_BYTES 7

typedef struct {
  guint item;
  const char *name, *about;
  const char *dtype; /* for NumPy; NULL: a number in the pointer itself, or text */
  gboolean is_text;
} Item;

static const Item items[] = {
  { ASTRO_RESULTS_STEP, "timestamp", "Number of the time step, from 0 at sync_time", NULL },
  { ASTRO_RESULTS_FIRST_CHANNEL, "frequency", "Number of the heap's first channel", NULL },
  { ASTRO_RESULTS_CHANNELS, "n_chans", "Channels of the whole stream", NULL },
  { ASTRO_RESULTS_STATIONS, "n_ants", "Stations, or antennas", NULL },
  { ASTRO_RESULTS_BASELINES, "n_bls", "Pairs of stations, including each with itself", NULL },
  { ASTRO_RESULTS_FREQUENCY, "center_freq", "Centre of the whole band (Hz; 0: unknown)", "<f8" },
  { ASTRO_RESULTS_BANDWIDTH, "bandwidth", "Width of the whole band (Hz; 0: unknown)", "<f8" },
  { ASTRO_RESULTS_INTERVAL, "int_time", "Length of a time step (s)", "<f8" },
  { ASTRO_RESULTS_START, "sync_time", "UTC of step 0, s since 1970 (0: unknown)", "<f8" },
  { ASTRO_RESULTS_CAPS, "caps", "The stream, as GStreamer writes caps", NULL, TRUE },
  { ASTRO_RESULTS_OBSERVATION, "observation", "The observation, as GStreamer writes structures",
    NULL, TRUE },
};

/* Names of types in NumPy. Complex numbers that it does not have get a last axis, of their real and
 * imaginary parts. */
typedef struct {
  AstroFormat format;
  const char *dtype;
  gboolean has_parts;
} Type;

static const Type types[] = {
  { ASTRO_FORMAT_CF64LE, "<c16", FALSE }, { ASTRO_FORMAT_CF32LE, "<c8", FALSE },
  { ASTRO_FORMAT_CF16LE, "<f2", TRUE },   { ASTRO_FORMAT_CI32LE, "<i4", TRUE },
  { ASTRO_FORMAT_CI16LE, "<i2", TRUE },   { ASTRO_FORMAT_CI8, "|i1", TRUE },
  { ASTRO_FORMAT_F64LE, "<f8", FALSE },   { ASTRO_FORMAT_F32LE, "<f4", FALSE },
  { ASTRO_FORMAT_U64LE, "<u8", FALSE },   { ASTRO_FORMAT_I16LE, "<i2", FALSE },
  { ASTRO_FORMAT_I8, "|i1", FALSE },
};

static const Type *type_of(AstroFormat format)
{
  for (guint i = 0; i < G_N_ELEMENTS(types); i++)
    if (types[i].format == format)
      return &types[i];
  return NULL;
}

gboolean astro_results_can_describe(AstroFormat format)
{
  return type_of(format) != NULL;
}

static char *numpy_header(const char *dtype, const GArray *shape)
{
  g_autoptr(GString) extents = g_string_new(NULL);
  for (guint i = 0; shape && i < shape->len; i++)
    g_string_append_printf(extents, "%" G_GUINT64_FORMAT ", ", g_array_index(shape, guint64, i));
  return g_strdup_printf("{'descr': '%s', 'fortran_order': False, 'shape': (%s)}", dtype,
                         extents->str);
}

/* A number of so many bits, or letters of which there is any number. */
typedef struct {
  guint8 format[FORMAT_BYTES], shape[SHAPE_BYTES];
  guint shape_bytes;
} Plain;

static const Plain number = { { 'u', 0, ADDRESS }, { 0 }, 0 };
static const Plain text = { { 'c', 0, 8 }, { 1 }, SHAPE_BYTES };

/* numpy: the item's type, unless it is plain. */
static void add(GByteArray *heap, GArray *places, const Item *item, const char *numpy)
{
  guint8 header[ASTRO_PACKET_MAX_HEADER];
  const Plain *plain = item->is_text ? &text : &number;
  const guint name = (guint)strlen(item->name), about = (guint)strlen(item->about);
  const guint type = numpy ? (guint)strlen(numpy) : FORMAT_BYTES;
  const guint shape = numpy ? 0 : plain->shape_bytes, all = name + about + type + shape;
  const guint64 place = heap->len;
  AstroSpeadItemWriter writer = astro_spead_begin(header, ADDRESS);
  astro_spead_put_heap(&writer, 1, all, 0, all);
  astro_spead_put(&writer, TRUE, ASTRO_SPEAD_ID, item->item);
  astro_spead_put(&writer, FALSE, ASTRO_SPEAD_NAME, 0);
  astro_spead_put(&writer, FALSE, ASTRO_SPEAD_DESCRIPTION, name);
  astro_spead_put(&writer, FALSE, numpy ? ASTRO_SPEAD_DTYPE : ASTRO_SPEAD_FORMAT, name + about);
  if (shape)
    astro_spead_put(&writer, FALSE, ASTRO_SPEAD_SHAPE, name + about + type);
  g_array_append_val(places, place);
  g_byte_array_append(heap, header, (guint)astro_spead_end(&writer));
  g_byte_array_append(heap, (const guint8 *)item->name, name);
  g_byte_array_append(heap, (const guint8 *)item->about, about);
  g_byte_array_append(heap, numpy ? (const guint8 *)numpy : plain->format, type);
  g_byte_array_append(heap, plain->shape, shape);
}

static void add_array(GByteArray *heap, GArray *places, const AstroStream *stream, guint64 channels,
                      AstroPartAxes axes, const Item *item, guint64 components)
{
  const AstroLayout *layout = &stream->layout;
  g_autoptr(GArray) shape = g_array_new(FALSE, FALSE, sizeof(guint64));
  g_autoptr(GString) about = g_string_new(item->about);
  const char *separator = ": ";
  for (guint i = 0; i < layout->n_axes; i++) {
    const guint64 extent = layout->axes[i] == ASTRO_AXIS_TIME      ? 1
                           : layout->axes[i] == ASTRO_AXIS_CHANNEL ? channels
                                                                   : layout->extents[i];
    if (!(axes >> i & 1))
      continue;
    g_array_append_val(shape, extent);
    g_string_append_printf(about, "%s%s", separator, astro_axis_name(layout->axes[i]));
    separator = ", ";
  }
  if (components > 1)
    g_array_append_val(shape, components);
  g_autofree char *numpy = numpy_header(item->dtype, shape);
  const Item told = { item->item, item->name, about->str, item->dtype };
  add(heap, places, &told, numpy);
}

GByteArray *astro_results_describe(const AstroStream *stream, guint64 channels,
                                   AstroPartAxes counted, GArray **places)
{
  GByteArray *heap = g_byte_array_new();
  const Type *type = type_of(stream->format);
  const Item samples = { ASTRO_RESULTS_SAMPLES, astro_quantity_name(stream->quantity),
                         "Values along the axes", type->dtype };
  const Item head = { ASTRO_RESULTS_HEAD, "head", "Sizes of the parts of this heap", "<u8" };
  const Item counts = { ASTRO_RESULTS_COUNTS, "counts",
                        "How many good samples are behind the values, along the axes", "<u4" };
  *places = g_array_new(FALSE, FALSE, sizeof(guint64));
  add(heap, *places, &head, "{'descr': '<u8', 'fortran_order': False, 'shape': (8,)}");
  for (guint i = 0; i < G_N_ELEMENTS(items); i++) {
    g_autofree char *numpy = items[i].dtype ? numpy_header(items[i].dtype, NULL) : NULL;
    add(heap, *places, &items[i], numpy);
  }
  add_array(heap, *places, stream, channels, G_MAXUINT32, &samples, type->has_parts ? 2 : 1);
  add_array(heap, *places, stream, channels, counted, &counts, 1);
  return heap;
}
