/* Complex samples of unsigned bytes without any header, as rtl_sdr and other programs of digitisers
 * for amateurs write them. */
#include "config.h"
#include "core/recorders/recording.h"

#define SAMPLE 2

static gboolean open_all(AstroRecording *recording, GError **error)
{
  guint64 begin = 0;
  recording->index = g_array_new(FALSE, FALSE, sizeof(AstroRecorderFrame));
  recording->packing = (AstroRecorderPacking){
    .bits = 8,
    .is_complex = TRUE,
    .code = ASTRO_RECORDER_OFFSET,
  };
  recording->frame_rows = 1;
  for (guint i = 0; i < recording->files->len; i++) {
    AstroRecorderFile *file = astro_recording_file(recording, i);
    const AstroRecorderFrame frame = {
      .file = i,
      .end = file->size,
      .begin = (gint64)begin,
      .steps = file->size / SAMPLE,
      .stored = file->size / SAMPLE,
      .is_valid = TRUE,
    };
    begin += frame.steps;
    if (frame.steps)
      g_array_append_val(recording->index, frame);
  }
  return astro_recording_settle_rate(recording, astro_recording_file(recording, 0)->name, error) &&
         astro_recording_sort(recording, error);
}

const AstroRecorderFormat astro_recorder_cu8 = {
  .name = { "cu8", "complex unsigned bytes without a header, as rtl_sdr writes them" },
  .open = open_all,
};
