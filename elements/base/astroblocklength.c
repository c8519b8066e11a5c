/* The length of blocks, in answers to ALLOCATION queries. */
#include "config.h"
#include "elements/base/astroblocklength.h"
#include "elements/base/astrostage-parts.h"

#define NAME "astro-block-length"

static GType length_get_type(void)
{
  static gsize type;
  static const gchar *no_tags[] = { NULL };
  if (g_once_init_enter(&type))
    g_once_init_leave(&type, gst_meta_api_type_register("AstroBlockLengthAPI", no_tags));
  return type;
}

void astro_block_length_add(GstQuery *query, const AstroBlockLength *length)
{
  if (length->steps == 0)
    return;
  g_autoptr(GstStructure) said = gst_structure_new(NAME, "steps", G_TYPE_UINT64, length->steps,
                                                   "phase", G_TYPE_UINT64, length->phase, NULL);
  gst_query_add_allocation_meta(query, length_get_type(), said);
}

AstroBlockLength astro_block_length_find(GstQuery *query)
{
  AstroBlockLength length = { 0 };
  const GstStructure *said;
  guint index;
  if (!gst_query_find_allocation_meta(query, length_get_type(), &index))
    return length;
  gst_query_parse_nth_allocation_meta(query, index, &said);
  if (!said || !gst_structure_get_uint64(said, "steps", &length.steps) ||
      !gst_structure_get_uint64(said, "phase", &length.phase) || length.phase >= length.steps)
    length = (AstroBlockLength){ 0 };
  return length;
}

guint64 astro_block_length_end(const AstroBlockLength *length, guint64 begin, guint64 most)
{
  const guint64 end = begin + most;
  if (length->steps == 0 || end < length->phase)
    return end;
  const guint64 good = end - (end - length->phase) % length->steps;
  return good > begin ? good : end;
}

void astro_stage_take_block_length(AstroStage *stage, GstQuery *query)
{
  AstroStagePrivate *priv = astro_stage_parts(stage);
  const AstroBlockLength before = priv->length;
  priv->length = astro_block_length_find(query);
  if (!priv->passed_length ||
      (before.steps == priv->length.steps && before.phase == priv->length.phase))
    return;
  priv->passed_length = FALSE;
  gst_base_transform_reconfigure_sink(GST_BASE_TRANSFORM(stage));
}

void astro_stage_add_block_length(AstroStage *stage, GstQuery *query, guint64 factor, guint64 lead)
{
  const AstroBlockLength *out = &astro_stage_parts(stage)->length;
  astro_stage_parts(stage)->passed_length = TRUE;
  AstroBlockLength in = { .steps = out->steps * factor };
  if (out->steps == 0 || factor == 0 || in.steps / factor != out->steps)
    return;
  in.phase = (out->phase * factor % in.steps + lead % in.steps) % in.steps;
  astro_block_length_add(query, &in);
}
