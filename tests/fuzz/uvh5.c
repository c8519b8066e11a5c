/* uvh5 files whose header says anything: takes a sound file, writes the bytes of the input over
 * values of one of its datasets, and reads to the end or to the first error. The format of HDF5
 * itself is the business of its library. */
#include "config.h"

#include <glib/gstdio.h>
#include <hdf5.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "core/lib/hdf5/lzf.h"
#include "core/uvh5/uvh5.h"
#include "core/uvh5/write.h"

#define STATIONS 3
#define BASELINES 6
#define CHANNELS 2
#define POLS 2
#define FRAMES 2
#define MOST_BYTES (16 << 20)

static char *sound, *path;
static char *bytes;
static gsize length;

static const char *const datasets[] = {
  "Header/latitude",
  "Header/altitude",
  "Header/antenna_numbers",
  "Header/antenna_positions",
  "Header/antenna_names",
  "Header/freq_array",
  "Header/channel_width",
  "Header/polarization_array",
  "Header/time_array",
  "Header/integration_time",
  "Header/ant_1_array",
  "Header/ant_2_array",
  "Header/uvw_array",
  "Header/phase_center_id_array",
  "Header/phase_center_catalog/0/cat_lon",
  "Header/phase_center_catalog/0/cat_lat",
  "Header/phase_center_catalog/0/cat_type",
  "Header/phase_center_catalog/0/cat_frame",
  "Header/dut1",
  "Header/Nspws",
  "Header/x_orientation",
  "Header/extra_keywords/DATE-OBS",
  "Header/extra_keywords/POLARX",
  "Data/visdata",
  "Data/flags",
  "Data/nsamples",
};

static void write_sound(void)
{
  const AstroStream stream = {
    .quantity = ASTRO_QUANTITY_VISIBILITIES,
    .format = ASTRO_FORMAT_CF32LE,
    .layout = { 4,
                { ASTRO_AXIS_CHANNEL, ASTRO_AXIS_BASELINE, ASTRO_AXIS_POL, ASTRO_AXIS_POL },
                { CHANNELS, BASELINES, POLS, POLS } },
    .rate_n = 1,
    .rate_d = 1,
    .frequency = 1e8,
    .bandwidth = 1e6,
  };
  g_autofree float *values = g_new0(float, 2 * FRAMES * CHANNELS * BASELINES * POLS * POLS);
  const AstroRowFrames frames = { .data = values,
                                  .frames = FRAMES,
                                  .duration_ns = FRAMES * (gint64)1000000000 };
  g_autoptr(AstroObservation) o = astro_observation_new(STATIONS);
  AstroRowTally tally = { 0 };
  for (guint i = 0; i < STATIONS; i++)
    o->positions[3 * i] = 6.4e6 + 100 * i;
  o->has_phase_centre = o->has_start = TRUE;
  o->start_mjd = 60000;
  AstroUvh5Writer *writer = astro_uvh5_writer_new(sound, NULL);
  if (!writer || !astro_uvh5_writer_begin(writer, &stream, STATIONS, o, NULL) ||
      !astro_uvh5_writer_write(writer, &frames, &tally, NULL) ||
      !astro_uvh5_writer_finish(writer, NULL))
    abort();
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
  g_autofree char *folder = g_dir_make_tmp("uvh5-XXXXXX", NULL);
  gst_init(NULL, NULL);
  sound = g_build_filename(folder, "sound.uvh5", NULL);
  path = g_build_filename(folder, "changed.uvh5", NULL);
  write_sound();
  if (!g_file_get_contents(sound, &bytes, &length, NULL))
    abort();
  g_unlink(sound);
  return 0;
}

/* Bytes of the input replace those of the dataset from its beginning on. */
static void change(const char *name, const guint8 *data, gsize size)
{
  const hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT),
              set = H5Dopen2(file, name, H5P_DEFAULT), type = H5Dget_type(set),
              space = H5Dget_space(set);
  const gsize room = H5Tget_size(type) * (gsize)H5Sget_simple_extent_npoints(space);
  g_autofree guint8 *values = g_malloc0(room);
  H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
  memcpy(values, data, MIN(size, room));
  H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
  H5Sclose(space);
  H5Tclose(type);
  H5Dclose(set);
  H5Fclose(file);
}

static void read_frames(AstroUvh5Reader *reader)
{
  const AstroRowContents *contents = astro_uvh5_reader_contents(reader);
  const gsize size = astro_stream_step_bytes(&contents->stream);
  const guint64 baselines = astro_stream_extent(&contents->stream, ASTRO_AXIS_BASELINE);
  g_autoptr(GError) error = NULL;
  gboolean end = FALSE;
  if (size > MOST_BYTES)
    return;
  g_autofree float *values = g_malloc(size);
  g_autofree guint32 *counts = g_malloc(size / 2);
  g_autofree double *uvw = g_new(double, 3 * baselines);
  AstroRowFrame frame = { .data = values, .counts = counts, .uvw = uvw };
  while (astro_uvh5_reader_read(reader, &frame, &end, &error))
    for (gsize i = 0; i < size / sizeof(float); i++)
      if (counts[i / 2] && !isfinite(values[i]))
        abort();
  if (!end != !!error)
    abort();
}

int LLVMFuzzerTestOneInput(const guint8 *data, gsize size)
{
  guint8 unpacked[256];
  if (size < 2)
    return 0;
  astro_lzf_unpack(data + 1, size - 1, unpacked, data[0]);
  if (!g_file_set_contents(path, bytes, (gssize)length, NULL))
    abort();
  change(datasets[data[0] % G_N_ELEMENTS(datasets)], data + 1, size - 1);
  for (AstroUvh5Uvw uvw = ASTRO_UVH5_UVW_AUTO; uvw <= ASTRO_UVH5_UVW_TABLE; uvw++) {
    const AstroUvh5Options options = { .uvw = uvw };
    g_autoptr(GError) error = NULL;
    g_autoptr(AstroUvh5Reader) reader = astro_uvh5_reader_open(path, &options, &error);
    if (!reader != !!error)
      abort();
    if (reader)
      read_frames(reader);
  }
  return 0;
}
