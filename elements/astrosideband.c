/**
 * SECTION:element-astrosideband
 *
 * Flips a band that came upside down, so that frequencies rise as all other elements expect: after
 * a receiver of a lower sideband, or a digitiser that samples an even Nyquist zone. Caps give the
 * centre of the band and its width, which stay unchanged.
 *
 * Complex voltages are conjugated. In real ones every second sample is negated. In spectra the
 * order of channels is reversed too. It belongs upstream of astrodelay, whose phases have the signs
 * of sky frequencies, and of astrochannelizer, whose first channel lies on the band's lower edge:
 * flipped afterwards, that would be the upper edge, one channel off. If the observation shows that
 * either came before, the stream is refused. In integer formats the lowest value, such as -128 of
 * CI8, cannot be negated and saturates to the highest, 127.
 *
 * |[
 * gst-launch-1.0 filesrc location=voltages.i8 ! \
 *   "application/x-astro-voltages,format=I8,layout=time:station:pol,stations=8,pols=2,\
 *   rate=800000000/1,frequency=600e6,bandwidth=400e6" ! \
 *   astrosideband ! astrochannelizer channels=1024 ! filesink location=spectra.cf32
 * ]|
 */
#include "config.h"
#include "elements/astrosideband.h"

#include "core/kit/enum.h"
#include "core/sideband/sideband.h"
#include "elements/base/astrofields.h"

typedef enum { SIDEBAND_LOWER, SIDEBAND_UPPER } Sideband;

ASTRO_STATIC_ENUM_TYPE(sideband_get_type, "AstroSidebandKind",
                       { SIDEBAND_LOWER, "The band is upside down and gets flipped", "lower" },
                       { SIDEBAND_UPPER, "The band is the right way up and passes", "upper" })

struct _AstroSideband {
  AstroStage parent;
  Sideband sideband; /* property */
  guint64 first;     /* step of the block being processed */
};

G_DEFINE_TYPE(AstroSideband, astro_sideband, ASTRO_TYPE_STAGE)
GST_ELEMENT_REGISTER_DEFINE(astrosideband, "astrosideband", GST_RANK_NONE, ASTRO_TYPE_SIDEBAND)

static gboolean configure(AstroStage *stage, gpointer config, gboolean *pass_through,
                          GError **error)
{
  ((AstroSidebandConfig *)config)->stream = *astro_stage_in(stage);
  *pass_through = ASTRO_SIDEBAND(stage)->sideband == SIDEBAND_UPPER;
  return TRUE;
}

static gboolean work(AstroStage *stage, GstBuffer *in, GstBuffer *out, guint64 steps,
                     GError **error)
{
  AstroSidebandArguments arguments = { ASTRO_SIDEBAND(stage)->first, steps };
  return astro_stage_submit(stage, in, out, &arguments, error);
}

static gboolean feed(AstroStage *stage, GstBuffer *in, guint64 first, guint64 steps, GError **error)
{
  ASTRO_SIDEBAND(stage)->first = first;
  return ASTRO_STAGE_CLASS(astro_sideband_parent_class)->feed(stage, in, first, steps, error);
}

static gboolean validity(AstroStage *stage, GstBuffer *in, GstBuffer *out)
{
  if (!ASTRO_STAGE_CLASS(astro_sideband_parent_class)->validity(stage, in, out))
    return FALSE;
  AstroValidityMeta *meta = astro_buffer_get_validity(out);
  if (meta)
    astro_sideband_reverse_validity(meta);
  return TRUE;
}

/* Refuses streams whose delays or channels were made with the band as it came, which flipping would
 * falsify. */
static gboolean amend(AstroStage *stage, AstroObservation *observation, GError **error)
{
  AstroHistory *done = &observation->done;
  if (gst_base_transform_is_passthrough(GST_BASE_TRANSFORM(stage)))
    return TRUE;
  if (done->filter_bank)
    return astro_stream_refuse(
        error, ASTRO_STREAM_ERROR_CAPS,
        "the spectra come from a filter bank, whose first channel lies on the "
        "band's lower edge, so that flipped channels would lie one channel off: expected "
        "voltages, upstream of astrochannelizer");
  if (done->delays == ASTRO_DELAYS_OUT)
    return astro_stream_refuse(
        error, ASTRO_STREAM_ERROR_CAPS,
        "delays were taken out with the phases of the band as it came, which "
        "would be wrong once it is flipped: expected a stream with its delays, "
        "upstream of astrodelay");
  done->sideband_turned = !done->sideband_turned;
  return TRUE;
}

static const AstroField fields[] = {
  ASTRO_ENUM(AstroSideband, sideband, "sideband", "Sideband", "Sideband of the input",
             sideband_get_type, SIDEBAND_LOWER),
  { 0 },
};

static void astro_sideband_class_init(AstroSidebandClass *klass)
{
  static const AstroQuantity quantities[] = { ASTRO_QUANTITY_VOLTAGES, ASTRO_QUANTITY_SPECTRA,
                                              ASTRO_QUANTITY_UNKNOWN };
  AstroStageClass *stage = ASTRO_STAGE_CLASS(klass);

  astro_fields_install(G_OBJECT_CLASS(klass), fields, 0);
  stage->stage = "sideband";
  stage->backends = astro_sideband_backends;
  stage->tell_work = astro_work_none;
  stage->configure = configure;
  stage->work = work;
  stage->feed = feed;
  stage->validity = validity;
  stage->amend = amend;
  astro_stage_class_add_pads(stage, quantities, quantities);
  gst_element_class_set_static_metadata(
      GST_ELEMENT_CLASS(klass), "Sideband", "Filter/Effect",
      "Flips a band that came upside down, before delays and filter bank", ASTRO_AUTHOR);
  gst_element_class_add_static_metadata(
      GST_ELEMENT_CLASS(klass), "takes",
      "voltages in any signed format, or spectra in any complex one");
  gst_element_class_add_static_metadata(GST_ELEMENT_CLASS(klass), "gives", "the same");
}

static void astro_sideband_init(AstroSideband *self)
{
  astro_fields_set_defaults(self);
}
