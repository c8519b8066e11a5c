/* The sums of a block of outer.h over some samples. Included by it with BLOCK (the function's
 * name), BLOCK_BYTES (of a vector) and BLOCK_VECTORS (in a row), which it takes away again. */

static inline __attribute__((always_inline)) void BLOCK(SCALAR *re, SCALAR *im, const SCALAR *left,
                                                        const SCALAR *right, guint samples)
{
  typedef SCALAR Vector __attribute__((vector_size(BLOCK_BYTES), may_alias));
  const guint lanes = sizeof(Vector) / sizeof(SCALAR);
  Vector sum_re[ROWS][BLOCK_VECTORS] = { 0 }, sum_im[ROWS][BLOCK_VECTORS] = { 0 };
  for (guint t = 0; t < samples; t++, left += 2 * PANEL, right += 2 * PANEL) {
    Vector b_re[BLOCK_VECTORS], b_im[BLOCK_VECTORS];
#pragma GCC unroll 4
    for (guint v = 0; v < BLOCK_VECTORS; v++) {
      b_re[v] = *(const Vector *)(right + v * lanes);
      b_im[v] = *(const Vector *)(right + PANEL + v * lanes);
    }
#pragma GCC unroll 16
    for (guint r = 0; r < ROWS; r++) {
      Vector a_re = left[r] - (Vector){ 0 }, a_im = left[PANEL + r] - (Vector){ 0 };
#pragma GCC unroll 4
      for (guint v = 0; v < BLOCK_VECTORS; v++) {
        sum_re[r][v] += a_re * b_re[v];
        sum_im[r][v] += a_im * b_re[v];
        sum_re[r][v] += a_im * b_im[v];
        sum_im[r][v] -= a_re * b_im[v];
      }
    }
  }
#pragma GCC unroll 16
  for (guint r = 0; r < ROWS; r++)
#pragma GCC unroll 4
    for (guint v = 0; v < BLOCK_VECTORS; v++) {
      *(Vector *)(re + r * PANEL + v * lanes) += sum_re[r][v];
      *(Vector *)(im + r * PANEL + v * lanes) += sum_im[r][v];
    }
}

#undef BLOCK
#undef BLOCK_BYTES
#undef BLOCK_VECTORS
