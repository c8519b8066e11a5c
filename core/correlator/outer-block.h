/* The sums of a block of outer.h over a run of lanes. Included by it with BLOCK (the function's
 * name), BLOCK_ROWS, BLOCK_BYTES (size of a vector) and BLOCK_VECTORS (vectors per row), which are
 * undefined again at the end. */

static inline __attribute__((always_inline)) void BLOCK(const OuterRow row, guint first,
                                                        guint column, guint n)
{
  typedef SCALAR Vector __attribute__((vector_size(BLOCK_BYTES), may_alias));
  typedef TILE Sums
      __attribute__((vector_size(BLOCK_BYTES / sizeof(SCALAR) * sizeof(TILE)), may_alias));
  for (guint s = 0; s < SUMS; s++) {
    const SCALAR *a = row.left + first + row_plane[s] * PART, *b[BLOCK_VECTORS];
    TILE *to[BLOCK_VECTORS];
    Vector sum[CHAINS][BLOCK_ROWS][BLOCK_VECTORS] = { 0 };
#pragma GCC unroll 4
    for (guint v = 0; v < BLOCK_VECTORS; v++) {
      const gsize c = column + v * (BLOCK_BYTES / sizeof(SCALAR));
      b[v] = row.right + c / PANEL * row.panel_stride + column_plane[s] * PART + c % PANEL;
      to[v] = row.tiles + (c / PANEL * SUMS + s) * PAIRS + first * PANEL + c % PANEL;
    }
#ifdef STARTS
    if (row.starts)
#pragma GCC unroll 16
      for (guint r = 0; r < BLOCK_ROWS; r++)
#pragma GCC unroll 4
        for (guint v = 0; v < BLOCK_VECTORS; v++)
          sum[0][r][v] += row.starts[s * PANEL + first + r];
#endif
    for (guint chunk = 0; chunk < (RUN > CHUNK ? n : 1); chunk += CHUNK) {
      const guint end = RUN > CHUNK ? MIN(n - chunk, CHUNK) : n;
#pragma GCC unroll UNROLLED
      for (guint t = 0; t < end; t += CHAINS)
#pragma GCC unroll 4
        for (guint k = 0; k < CHAINS; k++) {
          Vector lanes[BLOCK_VECTORS];
#pragma GCC unroll 4
          for (guint v = 0; v < BLOCK_VECTORS; v++)
            lanes[v] = *(const Vector *)(b[v] + (t + k) * PANEL);
#pragma GCC unroll 16
          for (guint r = 0; r < BLOCK_ROWS; r++) {
            Vector own = a[(t + k) * PANEL + r] - (Vector){ 0 };
#pragma GCC unroll 4
            for (guint v = 0; v < BLOCK_VECTORS; v++)
              sum[k][r][v] = MULTIPLY_ADD(sum[k][r][v], own, lanes[v]);
          }
        }
      a += PLANES * PART;
#pragma GCC unroll 4
      for (guint v = 0; v < BLOCK_VECTORS; v++)
        b[v] += PLANES * PART;
    }
#pragma GCC unroll 16
    for (guint r = 0; r < BLOCK_ROWS; r++)
#pragma GCC unroll 4
      for (guint v = 0; v < BLOCK_VECTORS; v++) {
#pragma GCC unroll 4
        for (guint k = 1; k < CHAINS; k++)
          sum[0][r][v] += sum[k][r][v];
        *(Sums *)(to[v] + r * PANEL) += __builtin_convertvector(sum[0][r][v], Sums);
      }
  }
}

#undef BLOCK
#undef BLOCK_ROWS
#undef BLOCK_BYTES
#undef BLOCK_VECTORS
