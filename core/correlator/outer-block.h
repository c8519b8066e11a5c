/* The sums of a block of outer.h over n lanes. Included by it with BLOCK (the function's name),
 * BLOCK_BYTES (of a vector) and BLOCK_VECTORS (in a row), which it takes away again. */

static inline __attribute__((always_inline)) void BLOCK(TILE *tiles, const SCALAR *left,
                                                        Columns columns, guint column, guint n)
{
  typedef SCALAR Vector __attribute__((vector_size(BLOCK_BYTES), may_alias));
  typedef TILE Sums
      __attribute__((vector_size(BLOCK_BYTES / sizeof(SCALAR) * sizeof(TILE)), may_alias));
  for (guint s = 0; s < SUMS; s++) {
    const SCALAR *a = left + row_plane[s] * PART, *b[BLOCK_VECTORS];
    TILE *to[BLOCK_VECTORS];
    Vector sum[CHAINS][ROWS][BLOCK_VECTORS] = { 0 };
#pragma GCC unroll 4
    for (guint v = 0; v < BLOCK_VECTORS; v++) {
      const gsize c = column + v * (BLOCK_BYTES / sizeof(SCALAR)), panel = c / PANEL,
                  at = c % PANEL;
      b[v] = columns.panels + panel * columns.panel_stride + column_plane[s] * PART + at;
      to[v] = tiles + (panel * SUMS + s) * PLANE + at;
    }
    for (guint t = 0; t < n; t += CHAINS)
#pragma GCC unroll 4
      for (guint k = 0; k < CHAINS; k++) {
        Vector column_lanes[BLOCK_VECTORS];
#pragma GCC unroll 4
        for (guint v = 0; v < BLOCK_VECTORS; v++)
          column_lanes[v] = *(const Vector *)(b[v] + (t + k) * PANEL);
#pragma GCC unroll 16
        for (guint r = 0; r < ROWS; r++) {
          Vector row = a[(t + k) * PANEL + r] - (Vector){ 0 };
#pragma GCC unroll 4
          for (guint v = 0; v < BLOCK_VECTORS; v++)
            sum[k][r][v] = MULTIPLY_ADD(sum[k][r][v], row, column_lanes[v]);
        }
      }
#pragma GCC unroll 16
    for (guint r = 0; r < ROWS; r++)
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
#undef BLOCK_BYTES
#undef BLOCK_VECTORS
