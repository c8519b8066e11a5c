/* Portable: a packed step is one sample of 16 inputs, 16 real parts and 16 imaginary ones in int16.
 */
#define TILE gint32
#define SUM gint64
#include "core/correlator/ahead.h"
#include "core/correlator/tile.h"

static void clear_step(gint16 *out, guint inputs)
{
  if (inputs < PANEL)
    memset(out, 0, 2 * PANEL * sizeof *out);
}

void astro_correlator_pack_ci8_c(guint8 *packed, gint32 *bias, const AstroCorrelatorRows *rows)
{
  gint16 *out = (gint16 *)packed;
  for (guint t = 0; t < rows->count; t++, out += 2 * PANEL) {
    const gint8 *in = (const gint8 *)rows->first + t * rows->stride;
    clear_step(out, rows->inputs);
    for (guint i = 0; i < rows->inputs; i++) {
      out[i] = in[2 * i];
      out[PANEL + i] = in[2 * i + 1];
    }
  }
}

void astro_correlator_pack_ci4_c(guint8 *packed, gint32 *bias, const AstroCorrelatorRows *rows)
{
  gint16 *out = (gint16 *)packed;
  for (guint t = 0; t < rows->count; t++, out += 2 * PANEL) {
    const guint8 *in = rows->first + t * rows->stride;
    clear_step(out, rows->inputs);
    for (guint i = 0; i < rows->inputs; i++) {
      out[i] = (gint16)((gint8)in[i] >> 4);
      out[PANEL + i] = (gint16)((gint8)(guint8)(in[i] << 4) >> 4);
    }
  }
}

static void multiply_row(gint32 *re, gint32 *im, const gint16 *left, const gint16 *right,
                         guint steps)
{
  gint32 sum_re[PANEL] = { 0 }, sum_im[PANEL] = { 0 };
  for (guint t = 0; t < steps; t++, left += 2 * PANEL, right += 2 * PANEL) {
    gint32 a_re = left[0], a_im = left[PANEL];
    for (guint c = 0; c < PANEL; c++) {
      sum_re[c] += a_re * right[c] + a_im * right[PANEL + c];
      sum_im[c] += a_im * right[c] - a_re * right[PANEL + c];
    }
  }
  for (guint c = 0; c < PANEL; c++) {
    re[c] += sum_re[c];
    im[c] += sum_im[c];
  }
}

void astro_correlator_multiply_int8_c(const AstroCorrelatorProduct *product)
{
  AstroCorrelatorAhead ahead = astro_correlator_ahead(product, PANEL);
  for (guint i = 0; i < product->rows; i++)
    for (guint j = 0; j < astro_correlator_columns(product, i); j++) {
      gint32 *tile = (gint32 *)(product->tiles + i * product->tiles_stride) + j * 2 * PANEL * PANEL;
      const gint16 *left = (const gint16 *)(product->left + i * product->panel_stride);
      const gint16 *right = (const gint16 *)(product->right + j * product->panel_stride);
      if (product->first)
        memset(tile, 0, 2 * PANEL * PANEL * sizeof *tile);
      for (guint r = 0; r < PANEL; r++) {
        astro_correlator_ask(&ahead);
        multiply_row(tile + r * PANEL, tile + (PANEL + r) * PANEL, left + r, right, product->steps);
      }
    }
}

ADD_TILES(int8_c, add_tile)
